package sdktest_test

import (
	"database/sql"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/test/enginetest"
)

// BenchmarkWorker measures how many messages of 256 bytes one worker claims, hands to a handler that
// does nothing, and acks, in a second, by the database's clock; and how much processor time of its own
// it needs for each, its start included, which says more on a machine that others use:
//
//	go run ./tools/withpostgres -- go test ./internal/test/sdktest -run '^$' -bench Worker -benchtime 1x -count 3
//
// With -short there are a tenth of the messages.
func BenchmarkWorker(b *testing.B) {
	messages := 200_000
	if testing.Short() {
		messages = 20_000
	}
	for _, mode := range []string{"batches", "singles"} {
		for _, language := range []string{"go", "python", "typescript"} {
			b.Run(mode+"/"+language, func(b *testing.B) {
				var rate, cpu float64
				for range b.N {
					rate, cpu = measure(b, language, mode, messages)
				}
				b.ReportMetric(rate, "messages/s")
				b.ReportMetric(cpu, "own-µs/message")
			})
		}
	}
}

func measure(b *testing.B, language, mode string, messages int) (rate, cpu float64) {
	url := migrated(b)
	db, err := sql.Open("pgx", url)
	must(b, err)
	defer db.Close()
	_, err = db.ExecContext(b.Context(), `SELECT pawl.outbox_enqueue('work', repeat('x', 256), queue => 'sdk') FROM generate_series(1, $1)`, messages)
	must(b, err)
	var log enginetest.LockedBuffer
	cmd := program(b.Context(), url, &log, append(languages()[language], filepath.Join(b.TempDir(), "journal"), mode)...)
	must(b, journal{cmd.Args[len(cmd.Args)-2]}.create())
	must(b, cmd.Start())
	for done := 0; done < messages; {
		time.Sleep(100 * time.Millisecond)
		must(b, db.QueryRowContext(b.Context(), `SELECT coalesce(sum(n), 0) FROM pawl.outbox_done`).Scan(&done))
	}
	// The first batch is over when the clock begins.
	must(b, db.QueryRowContext(b.Context(), `SELECT (sum(n) - min(n)) / extract(epoch FROM max(processed_at) - min(processed_at)) FROM pawl.outbox_done`).Scan(&rate))
	must(b, cmd.Process.Signal(syscall.SIGTERM))
	must(b, cmd.Wait())
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return rate, float64(used.Microseconds()) / float64(messages)
}
