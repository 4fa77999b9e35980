package sdktest_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/test/enginetest"
)

// languages has what a worker of each is started with.
func languages() map[string][]string {
	return map[string][]string{
		"go":         {os.Args[0]},
		"python":     {python, filepath.Join(sdk, "python/tests/worker.py")},
		"typescript": {node, filepath.Join(sdk, "typescript/dist/test/worker.js")},
	}
}

// fixture is a database, a journal, and the processes of a test.
type fixture struct {
	*testing.T
	url string
	db  *sql.DB
	journal
	log enginetest.LockedBuffer
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, url: migrated(t), journal: journal{filepath.Join(t.TempDir(), "journal")}}
	var err error
	f.db, err = sql.Open("pgx", f.url)
	must(t, err)
	t.Cleanup(func() {
		_ = f.db.Close()
		if t.Failed() {
			t.Logf("the processes said:\n%.20000s", f.log.String())
		}
	})
	must(t, f.create())
	return f
}

func (f *fixture) start(language, mode string) *exec.Cmd {
	f.Helper()
	cmd := program(f.Context(), f.url, &f.log, slices.Concat(languages()[language], []string{f.path, mode})...)
	must(f, cmd.Start())
	return cmd
}

// await polls the journal until it is as wanted.
func (f *fixture) await(what string, reached func([]event) bool) []event {
	f.Helper()
	var all []event
	enginetest.Until(f, what, func() bool {
		var err error
		all, err = f.read()
		must(f, err)
		return reached(all)
	})
	return all
}

func has(kind, language string, n int) func([]event) bool {
	return func(all []event) bool {
		got := 0
		for _, e := range all {
			if e.kind == kind && e.language == language {
				got++
			}
		}
		return got >= n
	}
}

// stop asks a process to stop, and insists on an orderly end.
func (f *fixture) stop(language string, cmd *exec.Cmd) {
	f.Helper()
	must(f, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		f.Errorf("the worker in %s stopped with %v", language, err)
	}
}

func (f *fixture) number(query string) (n int) {
	f.Helper()
	must(f, f.db.QueryRowContext(f.Context(), query).Scan(&n))
	return n
}

func (f *fixture) exec(query string) {
	f.Helper()
	_, err := f.db.ExecContext(f.Context(), query)
	must(f, err)
}

func (f *fixture) eventually(want int, query string) {
	f.Helper()
	enginetest.Until(f, fmt.Sprintf("%s: %d", query, want), func() bool { return f.number(query) == want })
}

// kills is how many processes are killed while they enqueue and work.
const kills = 36

// D-805: nothing that a transaction committed is lost, nothing of one that was rolled back is handled,
// nothing is acked twice, and messages of a key are handled one after the other.
func TestWorkersOfThreeLanguagesAreKilled(t *testing.T) {
	f := newFixture(t)
	f.exec(`CREATE TABLE acked (id bigint);
		CREATE FUNCTION note_acked() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN INSERT INTO public.acked SELECT i FROM generate_series(NEW.lo, NEW.lo + NEW.n - 1) i; RETURN NULL; END';
		CREATE TRIGGER note_acked AFTER INSERT ON pawl.outbox_done FOR EACH ROW EXECUTE FUNCTION note_acked()`)
	type process struct {
		language string
		cmd      *exec.Cmd
	}
	var running []process
	for _, language := range []string{"go", "python", "typescript"} {
		for range 2 {
			running = append(running, process{language, f.start(language, "produce")})
		}
	}
	for i := range kills {
		victim := &running[i%len(running)]
		f.await("life of a worker in "+victim.language, lives(victim.language, victim.cmd.Process.Pid))
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // where in its work it is killed is chance
		must(t, victim.cmd.Process.Kill())
		_ = victim.cmd.Wait()
		victim.cmd = f.start(victim.language, "produce")
	}
	for _, p := range running {
		f.await("start of a worker in "+p.language, started(p.language, p.cmd.Process.Pid))
		f.stop(p.language, p.cmd)
	}
	for language := range languages() {
		cmd := f.start(language, "work")
		f.await("start of a worker in "+language, started(language, cmd.Process.Pid))
		defer f.stop(language, cmd)
	}
	f.eventually(0, `SELECT count(*) FROM pawl.outbox WHERE status IN (0, 1)`)
	f.check()
}

// started reports whether a process began to work.
func started(language string, pid int) func([]event) bool {
	return func(all []event) bool { return slices.Contains(all, event{"start", language, strconv.Itoa(pid)}) }
}

// lives reports whether a process began to work, and one of its language ended a message since.
func lives(language string, pid int) func([]event) bool {
	return func(all []event) bool {
		i := slices.Index(all, event{"start", language, strconv.Itoa(pid)})
		return i >= 0 && has("end", language, 1)(all[i:])
	}
}

func (f *fixture) check() {
	f.Helper()
	all, err := f.read()
	must(f, err)
	stored := f.number(`SELECT count(*) FROM pawl.outbox`)
	if n := f.number(`SELECT count(*) FROM pawl.outbox WHERE status = 2`); n != stored {
		f.Errorf("%d of %d messages are done", n, stored)
	}
	if n := f.number(`SELECT count(*) - count(DISTINCT id) FROM acked`); n != 0 {
		f.Errorf("%d messages were acked twice", n)
	}
	if n := f.number(`SELECT count(DISTINCT id) FROM acked`); n != stored {
		f.Errorf("%d of %d messages were acked", n, stored)
	}
	for language, process := range map[string]string{"python": "python", "typescript": "typescript"} {
		if n := f.number(fmt.Sprintf(`SELECT coalesce(sum(n), 0) FROM pawl.outbox_done WHERE processed_by = '%s'`, process)); n == 0 {
			f.Errorf("no worker in %s acked anything", language)
		}
	}
	ended, last, begun, repeated := map[string]bool{}, map[string]int{}, map[string]bool{}, 0
	for _, e := range all {
		key, number, _ := strings.Cut(e.rest, " ")
		n, err := strconv.Atoi(number)
		switch {
		case e.kind == "end":
			ended[e.rest] = true
		case e.kind != "begin":
		case strings.Contains(e.rest, "rolled-back"), err == nil && !strings.HasPrefix(key, "go-") && n%5 == 4:
			f.Errorf("%s was handled, which was rolled back", e.rest)
		case err == nil && n < last[key]:
			f.Errorf("%s was begun after %d", e.rest, last[key])
		case err == nil:
			last[key] = n
		}
		if e.kind == "begin" {
			if begun[e.rest] {
				repeated++
			}
			begun[e.rest] = true
		}
	}
	put := 0
	for _, e := range all {
		if e.kind != "put" {
			continue
		}
		for payload := range strings.FieldsSeq(e.rest) {
			put++
			if payload = strings.Replace(payload, "/", " ", 1); !ended[payload] {
				f.Errorf("%s was committed and never handled", payload)
			}
		}
	}
	if len(ended) != stored {
		f.Errorf("%d messages were handled of %d", len(ended), stored)
	}
	f.Logf("%d messages, %d of them enqueued by processes that lived to say so, %d attempts repeated", stored, put, repeated)
}

// D-806: of a message that kills its process two attempts are made, one that raises has two as well;
// both have failed then, with what happened.
func TestAttemptsAreUsedUp(t *testing.T) {
	eachOther(t, func(t *testing.T, language string) {
		f := newFixture(t)
		f.exec(`SELECT pawl.outbox_enqueue('work', 'x', queue => 'sdk')`)
		failing := f.start(language, "fail")
		f.eventually(1, `SELECT count(*) FROM pawl.outbox WHERE status = 3 AND retry_count = 1 AND last_error = 'Fail: for good'`)
		f.stop(language, failing)
		f.exec(`SELECT pawl.outbox_enqueue('work', 'killer', queue => 'sdk')`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for ctx.Err() == nil && f.number(`SELECT count(*) FROM pawl.outbox WHERE status = 3`) < 2 {
			cmd := f.start(language, "poison")
			for over := make(chan struct{}); over != nil; {
				go func() { _ = cmd.Wait(); close(over) }()
				select {
				case <-over:
				case <-f.failed(ctx, 2):
					must(t, cmd.Process.Kill())
					<-over
				}
				over = nil
			}
			f.exec(`UPDATE pawl.outbox_claim SET locked_until = clock_timestamp() - interval '1 second'`) // as after four seconds
		}
		if n := f.number(`SELECT count(*) FROM pawl.outbox WHERE status = 3 AND last_error = 'Fail: lease expired; gave up after 2 attempts, the last of which did not end'`); n != 1 {
			t.Error("the message that kills has not failed")
		}
		all, err := f.read()
		must(t, err)
		begun := 0
		for _, e := range all {
			if e.kind == "begin" && e.rest == "killer" {
				begun++
			}
		}
		if begun != 3 { // the first claim did not know it alone
			t.Errorf("it was begun %d times", begun)
		}
	})
}

// failed is closed when so many messages have failed, or ctx ends.
func (f *fixture) failed(ctx context.Context, n int) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		for ctx.Err() == nil {
			var got int
			if f.db.QueryRowContext(ctx, `SELECT count(*) FROM pawl.outbox WHERE status = 3`).Scan(&got) != nil || got >= n {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return over
}

// D-809: a handler may take longer than its lease, for that is extended. One whose lease is lost is
// told, and its message is handled again.
func TestLeases(t *testing.T) {
	eachOther(t, func(t *testing.T, language string) {
		f := newFixture(t)
		f.exec(`SELECT pawl.outbox_enqueue('work', 'x', queue => 'sdk')`)
		cmd := f.start(language, "long")
		f.await("message", has("begin", language, 1))
		other := f.start("go", "work")
		f.await("end of the message", has("end", language, 1))
		f.eventually(1, `SELECT count(*) FROM pawl.outbox WHERE status = 2 AND retry_count = 0`)
		f.stop("go", other)
		if all, err := f.read(); err != nil || has("begin", "go", 1)(all) || has("begin", language, 2)(all) {
			t.Errorf("it was handled twice: %v, %v", all, err)
		}
		f.exec(`SELECT pawl.outbox_enqueue('work', 'y', queue => 'sdk')`)
		f.await("second message", has("begin", language, 2))
		f.exec(`UPDATE pawl.outbox_claim SET locked_until = clock_timestamp() - interval '1 second'`)
		f.exec(`SELECT pawl.outbox_reap_expired()`)
		f.await("loss", has("lost", language, 1))
		f.await("third attempt", has("begin", language, 3))
		f.eventually(2, `SELECT count(*) FROM pawl.outbox WHERE status = 2`)
		f.stop(language, cmd)
	})
}

// D-806: a list of messages succeeds or fails as a whole, and is no longer than a batch.
func TestBatches(t *testing.T) {
	eachOther(t, func(t *testing.T, language string) {
		f := newFixture(t)
		f.exec(`SELECT pawl.outbox_enqueue('work', CASE i WHEN 7 THEN 'bad' ELSE 'x' END, queue => 'sdk') FROM generate_series(1, 40) i`)
		cmd := f.start(language, "batch")
		f.eventually(40, `SELECT count(*) FROM pawl.outbox WHERE status = 2`)
		f.stop(language, cmd)
		all, err := f.read()
		must(t, err)
		if want := []event{{"batch", language, "20"}, {"batch", language, "20"}, {"batch", language, "20"}}; !slices.Equal(without("start", "stop", all), want) {
			t.Errorf("got %v, want %v", all, want)
		}
	})
}

func without(kind, other string, all []event) []event {
	return slices.DeleteFunc(slices.Clone(all), func(e event) bool { return e.kind == kind || e.kind == other })
}

// eachOther runs a test in each language but Go, at once.
func eachOther(t *testing.T, test func(t *testing.T, language string)) {
	for language := range languages() {
		if language != "go" {
			t.Run(language, func(t *testing.T) {
				t.Parallel()
				test(t, language)
			})
		}
	}
}

// D-807: a worker that is stopped ends what runs, and gives back what no handler began, uncounted.
func TestStop(t *testing.T) {
	eachOther(t, func(t *testing.T, language string) {
		f := newFixture(t)
		f.exec(`SELECT pawl.outbox_enqueue('work', 'x' || i, queue => 'sdk') FROM generate_series(1, 30) i`)
		cmd := f.start(language, "slow")
		f.await("second message", has("begin", language, 2))
		f.stop(language, cmd)
		all, err := f.read()
		must(t, err)
		ended := 0
		for _, e := range all {
			if e.kind == "end" {
				ended++
			}
		}
		if n := f.number(`SELECT count(*) FROM pawl.outbox WHERE status = 2`); n != ended || n < 2 || n > 10 {
			t.Errorf("%d are done, %d ended", n, ended)
		}
		if n := f.number(`SELECT count(*) FROM pawl.outbox WHERE status = 0 AND retry_count = 0`); n != 30-ended {
			t.Errorf("%d were given back", n)
		}
		if !has("stop", language, 1)(all) {
			t.Error("it did not return from its loop")
		}
	})
}

// D-859: what is committed beside an open transaction that enqueues notifies nobody, and is claimed at once all the same.
func TestBesideAnOpenTransaction(t *testing.T) {
	eachOther(t, func(t *testing.T, language string) {
		f := newFixture(t)
		f.exec(`SELECT pawl.outbox_enqueue('work', 'first', queue => 'sdk')`) // it registers the queue
		tx, err := f.db.BeginTx(t.Context(), nil)
		must(t, err)
		defer func() { _ = tx.Rollback() }()
		_, err = tx.ExecContext(t.Context(), `SELECT pawl.outbox_enqueue('work', 'open', queue => 'sdk')`)
		must(t, err)
		cmd := f.start(language, "sleep")
		f.eventually(1, `SELECT count(*) FROM pawl.outbox WHERE status = 2`)
		f.eventually(1, `SELECT least(1, count(*)) FROM pg_stat_activity WHERE state = 'idle' AND query LIKE '%outbox\_listen%'`)
		f.exec(`SELECT pawl.outbox_enqueue('work', 'committed', queue => 'sdk')`)
		f.await("the message that is committed", has("end", language, 2))
		f.stop(language, cmd)
	})
}
