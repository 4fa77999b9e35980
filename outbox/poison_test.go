//go:build unix

package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
)

// This test binary is also the worker that dies: with a database in its environment
// it works until nothing is left, or a message kills it, and runs no tests.
const (
	victimFile   = "PAWL_OUTBOX_FILE"
	victimURL    = "PAWL_OUTBOX_URL"
	victimSchema = "PAWL_OUTBOX_SCHEMA"
	// victimTask is what it does, see TestMain, and victimLog where it writes what it handles.
	victimTask = "PAWL_OUTBOX_TASK"
	victimLog  = "PAWL_OUTBOX_LOG"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimFile)+os.Getenv(victimURL) == "" {
		os.Exit(m.Run())
	}
	work := map[string]func() error{"": beVictim, "order": workInOrder, "limit": workUnderALimit}[os.Getenv(victimTask)]
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const poisonAttempts = 3

func openVictim() (engine.DB, error) {
	if file := os.Getenv(victimFile); file != "" {
		return sqlite.Open(file)
	}
	return postgres.Open(os.Getenv(victimURL), postgres.Options{Schema: os.Getenv(victimSchema)})
}

func beVictim() error {
	db, err := openVictim()
	if err != nil {
		return err
	}
	o := parts.NewOutbox(db, worker.Options{
		StopWhenEmpty: true, Concurrency: 500, BatchSize: 500, Queues: []string{outbox.DefaultQueue, "other"},
		Retry: &worker.RetryPolicy{MaxAttempts: poisonAttempts},
	})
	o.Component().Observe(&worker.Observer{Claimed: writeClaimed})
	o.Handle("t", func(_ context.Context, m *outbox.Message) error {
		if string(m.Payload) == "poison" {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		time.Sleep(time.Millisecond) // it is work
		return nil
	})
	return errors.Join(o.Run(context.Background()), db.Close())
}

// writeClaimed writes how many messages a claim returned.
func writeClaimed(_ string, n int) { fmt.Println("claimed", n) }

// victims are the processes that work on a database, one after the other.
type victims struct {
	dbtest.Database
	env []string
	o   *parts.Outbox
}

func eachVictims(t *testing.T, test func(t *testing.T, v *victims)) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "poison.db")
		db := dbtest.SQLiteAt(t, path, sqlite.Options{})
		dbtest.Migrate(t, db)
		d := dbtest.Database{DB: db, SQL: db.SQL(), Table: func(name string) string { return name }}
		test(t, &victims{d, []string{victimFile + "=" + path}, parts.NewOutbox(db, worker.Options{})})
	})
	t.Run("postgres", func(t *testing.T) {
		d := dbtest.OpenPostgres(t)
		test(t, &victims{d, []string{victimURL + "=" + testpg.URL(t), victimSchema + "=" + strings.TrimSuffix(d.Table(""), ".")}, parts.NewOutbox(d.DB, worker.Options{})})
	})
}

// work runs a process until it ends, and reports whether it was killed, and what
// its claims brought.
func (v *victims) work(t *testing.T) (killed bool, claims string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), v.env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL) || ctx.Err() != nil {
		t.Fatalf("the worker ended with %v", err)
	}
	return err != nil, strings.TrimSpace(string(out))
}

// lapse lets the leases of dead workers run out.
func (v *victims) lapse(t *testing.T) {
	t.Helper()
	past := "'2000-01-01'"
	if v.Engine() == "sqlite" {
		past = "1"
	}
	if _, err := v.SQL.ExecContext(t.Context(), "UPDATE "+v.Table("outbox_claim")+" SET locked_until = "+past); err != nil {
		t.Fatal(err)
	}
}

// workUntilEmpty starts processes until one finds nothing left to do, and returns
// how many were killed.
func (v *victims) workUntilEmpty(t *testing.T) (crashes int) {
	t.Helper()
	for looks := 0; ; {
		killed, _ := v.work(t)
		if !killed {
			// The server may still have been at a call of the process that was killed
			// before, which then put something back behind this one's last claim.
			c, err := v.o.Count(t.Context())
			if looks++; looks > 3 || err == nil && c.Ready+c.InProgress == 0 {
				return crashes
			}
			v.lapse(t)
			continue
		}
		if crashes++; crashes > 30 {
			t.Fatal("it goes on for ever")
		}
		v.lapse(t)
	}
}

// guilty insists on one message that failed, all others being handled without an
// attempt counted.
func (v *victims) guilty(t *testing.T, poison outbox.MessageID, innocent int64) {
	t.Helper()
	got, err := v.o.Get(t.Context(), poison)
	if err != nil || got.Status != outbox.Failed || got.RetryCount != poisonAttempts || !strings.Contains(got.LastError, "lease expired") {
		t.Fatalf("the poison is %+v: %v", got, err)
	}
	if c, err := v.o.Count(t.Context()); err != nil || c != (outbox.Counts{Done: innocent, Failed: 1}) {
		t.Fatalf("%+v, %v", c, err)
	}
	if n := v.Database.Count(t, "SELECT count(*) FROM "+v.Table("outbox_exception")); n != 1 {
		t.Fatalf("%d messages lost attempts", n)
	}
}

// D-12: of 500 messages one kills the process that handles it, again and again: it
// ends as failed, the others are handled, and none of them lost an attempt.
func TestPoisonAmongMany(t *testing.T) {
	eachVictims(t, func(t *testing.T, v *victims) {
		msgs := make([]outbox.Message, 500)
		for i := range msgs {
			msgs[i] = outbox.Message{Topic: "t"}
		}
		msgs[271].Payload = []byte("poison")
		ids, err := v.o.EnqueueBatch(t.Context(), msgs)
		if err != nil {
			t.Fatal(err)
		}
		// Once among all, once among all suspects, log2(500), and its attempts.
		if n := v.workUntilEmpty(t); n > 2+9+poisonAttempts {
			t.Errorf("%d crashes", n)
		}
		v.guilty(t, ids[271], 499)
	})
}

// D-12: where little comes, the few that are handled beside it, from whatever queue,
// lose nothing either.
func TestPoisonAmongFew(t *testing.T) {
	eachVictims(t, func(t *testing.T, v *victims) {
		var poison outbox.MessageID
		for i := range 6 {
			m := outbox.Message{Topic: "t"}
			if i%2 == 1 {
				m.Queue = "other"
			}
			if i == 2 {
				m.Payload = []byte("poison")
			}
			id, err := v.o.Enqueue(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if i == 2 {
				poison = id
			}
		}
		v.workUntilEmpty(t)
		v.guilty(t, poison, 5)
	})
}

// D-12: a plain crash costs one claim more, and no attempt.
func TestPlainCrashCostsOneClaim(t *testing.T) {
	eachVictims(t, func(t *testing.T, v *victims) {
		msgs := make([]outbox.Message, 500)
		for i := range msgs {
			msgs[i] = outbox.Message{Topic: "t"}
		}
		if _, err := v.o.EnqueueBatch(t.Context(), msgs); err != nil {
			t.Fatal(err)
		}
		if _, err := v.o.WorkQueue("").Claim(t.Context(), outbox.NewOwnerToken(), time.Hour, 500); err != nil {
			t.Fatal(err) // and this process is heard of no more
		}
		v.lapse(t)
		if killed, claims := v.work(t); killed || claims != "claimed 500" {
			t.Fatalf("killed: %v, its claims: %s", killed, claims)
		}
		if c, err := v.o.Count(t.Context()); err != nil || c != (outbox.Counts{Done: 500}) {
			t.Fatalf("%+v, %v", c, err)
		}
		if n := v.Database.Count(t, "SELECT count(*) FROM "+v.Table("outbox_exception")); n != 0 {
			t.Fatalf("%d messages lost attempts", n)
		}
	})
}
