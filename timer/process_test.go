//go:build unix

package timer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// This test binary is also the process that dies: with a moment in its
// environment it fires timers until then and runs no tests.
const (
	momentVariable = "PAWL_TIMER_MOMENT"
	fileVariable   = "PAWL_TIMER_FILE"
	urlVariable    = "PAWL_TIMER_URL"
	schemaVariable = "PAWL_TIMER_SCHEMA"
)

func TestMain(m *testing.M) {
	if os.Getenv(momentVariable) == "" {
		os.Exit(m.Run())
	}
	if err := dieAt(os.Getenv(momentVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1) // it should have died
}

// dieAt fires timers and is killed at a moment.
func dieAt(moment string) error {
	var db engine.DB
	var err error
	if file := os.Getenv(fileVariable); file != "" {
		db, err = sqlite.Open(file)
	} else {
		db, err = postgres.Open(os.Getenv(urlVariable), postgres.Options{Schema: os.Getenv(schemaVariable)})
	}
	if err != nil {
		return err
	}
	m := &mortal{DB: db, moment: moment}
	return parts.NewTimers(m, parts.NewOutbox(m, worker.Options{}), timer.Options{}, nil).Run(context.Background())
}

// mortal is a database whose process dies with its first batch: "before" it,
// "after" it, or so many microseconds after it was begun.
type mortal struct {
	engine.DB
	moment string
}

func (m *mortal) Do(ctx context.Context, calls ...*engine.Call) error {
	if !slices.ContainsFunc(calls, func(c *engine.Call) bool { return c.Name() == "timer/dispatch" }) {
		return m.DB.Do(ctx, calls...)
	}
	switch m.moment {
	case "before":
		die()
	case "after":
		if err := m.DB.Do(ctx, calls...); err != nil {
			return err
		}
		die()
	}
	n, err := strconv.Atoi(m.moment)
	if err != nil {
		return err
	}
	time.AfterFunc(time.Duration(n)*time.Microsecond, die)
	if err := m.DB.Do(ctx, calls...); err != nil {
		return err
	}
	die()
	return nil
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// place is a database for this process and those that die.
type place struct {
	dbtest.Database
	env []string
}

func places(t *testing.T) map[string]place {
	path := filepath.Join(t.TempDir(), "timer.db")
	file := dbtest.SQLiteAt(t, path, sqlite.Options{})
	dbtest.Migrate(t, file)
	server := dbtest.OpenPostgres(t)
	return map[string]place{
		"sqlite": {
			dbtest.Database{DB: file, SQL: file.SQL(), Table: func(name string) string { return name }},
			[]string{fileVariable + "=" + path},
		},
		"postgres": {server, []string{urlVariable + "=" + testpg.URL(t), schemaVariable + "=" + strings.TrimSuffix(server.Table(""), ".")}},
	}
}

// killed runs another process until it has killed itself at a moment.
func (p place) killed(t *testing.T, moment string) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(append(os.Environ(), p.env...), momentVariable+"="+moment)
	cmd.Stderr = os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || ctx.Err() != nil {
		t.Errorf("%s: the other process ended with %v", moment, err)
	}
}

// D-71: processes that are killed at any moment of firing a batch leave every
// timer in one place: whoever comes next sends each exactly once.
func TestKilledWhileFiring(t *testing.T) {
	for name, p := range places(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 7000
			box := parts.NewOutbox(p.DB, worker.Options{})
			timers := parts.NewTimers(p.DB, box, timer.Options{}, nil)
			ids := scheduleMany(t, timers, n)
			moments := []string{"before", "after", "1000", "3000", "6000", "12000"}
			for pair := range slices.Chunk(moments, 2) { // two at a time, which meet
				var both sync.WaitGroup
				for _, moment := range pair {
					both.Go(func() { p.killed(t, moment) })
				}
				both.Wait()
			}
			p.fireRest(t, timers, n)
			p.deliveredOnce(t, ids)
		})
	}
}

func scheduleMany(t *testing.T, timers *parts.Timers, n int) map[timer.ID]int {
	t.Helper()
	ids := map[timer.ID]int{}
	batch := make([]timer.Timer, 1000)
	for i := range batch {
		batch[i] = timer.Timer{Topic: "t", Due: time.Now().Add(-time.Minute)}
	}
	for range n / len(batch) {
		some, err := timers.ScheduleBatch(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range some {
			ids[id] = 0
		}
	}
	return ids
}

// fireRest fires what the dead have left, and sees that they did their part, and
// not all.
func (p place) fireRest(t *testing.T, timers *parts.Timers, n int) {
	t.Helper()
	var rest int64
	dbtest.Until(t, "all have fired, also what a session of a dead process holds", func() bool {
		got, err := timers.Sources[0].Dispatch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rest += got
		var open int
		p.Row(t, "SELECT count(*) FROM "+p.Table("timers")+" WHERE status_code < 2", &open)
		return open == 0
	})
	if rest == 0 || rest > int64(n)-1000 { // one of six died when it had done a batch of 1000
		t.Errorf("%d of %d were left to fire", rest, n)
	}
}

func (p place) deliveredOnce(t *testing.T, times map[timer.ID]int) {
	t.Helper()
	n := len(times)
	var mu sync.Mutex
	box := parts.NewOutbox(p.DB, worker.Options{StopWhenEmpty: true, BatchSize: 500, Logger: slog.New(slog.DiscardHandler)})
	box.Handle("t", func(_ context.Context, m *outbox.Message) error {
		mu.Lock()
		defer mu.Unlock()
		times[m.ID]++
		return nil
	})
	if err := box.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, got := range times {
		if got != 1 {
			t.Fatalf("timer %v was delivered %d times", id, got)
		}
	}
	if len(times) != n {
		t.Fatalf("%d messages for %d timers", len(times), n)
	}
}
