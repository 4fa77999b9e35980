//go:build unix

package outbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// workUnderALimit handles messages until the process is killed.
func workUnderALimit() error {
	db, err := openVictim()
	if err != nil {
		return err
	}
	log, err := openLog()
	if err != nil {
		return err
	}
	o := parts.NewOutbox(db, worker.Options{
		Concurrency: 16, Lease: 2 * orderLease, PollInterval: 50 * time.Millisecond,
		Retry: &worker.RetryPolicy{Delay: func(int) time.Duration { return 5 * time.Millisecond }},
	})
	o.Handle("t", func(_ context.Context, m *outbox.Message) error {
		fmt.Fprintf(log, "begin %d %s\n", os.Getpid(), m.Payload)
		time.Sleep(time.Duration(rand.IntN(4_000)) * time.Microsecond)
		fmt.Fprintf(log, "end %d %s\n", os.Getpid(), m.Payload)
		if rand.IntN(50) == 0 {
			return errors.New("by chance")
		}
		return nil
	})
	return o.Run(context.Background())
}

// D-214: a limit holds while processes are killed, and what they held is given back; a log outside
// of the database tells. PAWL_LONG: 8 processes.
func TestLimitUnderFire(t *testing.T) {
	const limit = 5
	n, processes, kills := 2_000, 4, 8
	if os.Getenv("PAWL_LONG") != "" {
		n, processes, kills = 20_000, 8, 100
	}
	eachVictims(t, func(t *testing.T, v *victims) {
		if _, err := throttle.New(v.DB, nil).Set(t.Context(), throttle.Topic, "t", throttle.Bounds{Concurrency: limit}, ""); err != nil {
			t.Fatal(err)
		}
		fire := newNemesis(t, v, "limit")
		for range processes {
			fire.start()
		}
		msgs := make([]outbox.Message, n)
		for i := range msgs {
			msgs[i] = outbox.Message{Topic: "t", Payload: fmt.Append(nil, i)}
		}
		if _, err := v.o.EnqueueBatch(t.Context(), msgs); err != nil {
			t.Fatal(err)
		}
		stop := fire.during(func(over <-chan struct{}) { fire.killSome(kills, over) })
		defer stop()
		fire.untilDone(v, n)
		stop()
		checkLimit(t, fire.log, n, limit)
		t.Logf("%d killed", fire.kills)
	})
}

// checkLimit reads the log: "dead PID" says that a process was killed.
func checkLimit(t *testing.T, path string, n, limit int) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	running, handled, most := map[string]string{}, map[string]bool{}, 0 // messages by who handles them
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Fields(lines.Text())
		switch f[0] {
		case "begin":
			running[f[2]] = f[1]
			most = max(most, len(running))
		case "end":
			delete(running, f[2])
			handled[f[2]] = true
		case "dead":
			for id, pid := range running {
				if pid == f[1] {
					delete(running, id)
				}
			}
		}
	}
	if most != limit {
		t.Errorf("%d at once, the limit is %d", most, limit)
	}
	if len(handled) != n {
		t.Errorf("%d handled, want %d", len(handled), n)
	}
}
