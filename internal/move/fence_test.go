package move_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/move"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// D-257: once a store is closed nothing is written to it, by whatever way; whoever tries learns
// where it is.
func TestNobodyWritesToAStoreThatMoved(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		s := fill(t, old)
		o := quiet()
		o.Drain = -1
		_, err := move.Run(ctx, sideOf(old, "old"), sideOf(new, "postgres://there/new"), o)
		must(t, err)
		before := tables(t, old)
		p := s.p
		writes := map[string]func() error{
			"enqueue": func() error { _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "x"}); return err },
			"known id": func() error {
				_, err := p.Outbox.Enqueue(ctx, outbox.Message{ID: outbox.MessageID{9}, Topic: "x"})
				return err
			},
			"with a key": func() error {
				_, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "x", OrderingKey: "k"})
				return err
			},
			"unique": func() error {
				_, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "x", UniqueKey: "new"})
				return err
			},
			"transaction": func() error {
				return inTx(t, old, func(tx *sql.Tx) error { _, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "x"}); return err })
			},
			"claim": func() error {
				_, err := p.Outbox.WorkQueue("").Claim(ctx, outbox.NewOwnerToken(), time.Minute, 10)
				return err
			},
			"ack": func() error {
				_, err := p.Outbox.WorkQueue("").Ack(ctx, s.claimed, positions(t, old, "claimed")...)
				return err
			},
			"fail": func() error {
				_, err := p.Outbox.WorkQueue("").Fail(ctx, s.claimed, errors.New("no"), positions(t, old, "claimed")...)
				return err
			},
			"extend": func() error {
				_, err := p.Outbox.Extend(ctx, s.claimed, time.Hour, positions(t, old, "claimed")...)
				return err
			},
			"redrive": func() error { _, err := p.Outbox.Redrive(ctx, outbox.FailedFilter{Topic: "failed"}); return err },
			"join":    func() error { _, err := p.Joins.Start(ctx, join.Spec{ExpectedSteps: 1}); return err },
			"step":    func() error { _, err := p.Joins.ReportCompleted(ctx, s.join, s.steps[1]); return err },
			"timer": func() error {
				_, err := p.Timers.Schedule(ctx, timer.Timer{Topic: "x", Due: time.Now().Add(time.Hour)})
				return err
			},
			"timer's end": func() error { _, err := p.Timers.CancelKey(ctx, "reminder"); return err },
			"job":         func() error { return p.Jobs.Put(ctx, job.Job{Name: "other", Schedule: "@daily", Topic: "x"}) },
			"run":         func() error { _, err := p.Jobs.Trigger(ctx, "nightly"); return err },
			"once": func() error {
				return p.Inbox.Once(ctx, inbox.Key{Source: "s", MessageID: "new"}, func(context.Context, outbox.Tx) error { return nil })
			},
			"in": func() error {
				_, err := p.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: "n"}, Topic: "x"})
				return err
			},
			"lease":   func() error { _, err := p.Leases.Acquire(ctx, "past", lease.Options{}); return err },
			"renewal": func() error { return s.held.Renew(ctx) },
			"pause":   func() error { _, err := p.Admin.Pause(ctx, admin.Topic, "x", ""); return err },
			"limit": func() error {
				_, err := p.Admin.SetLimit(ctx, admin.Topic, "x", outbox.Limit{Concurrency: 1}, "")
				return err
			},
			"SQL": func() error { return bySQL(t, old) },
		}
		for name, write := range writes {
			err := write()
			var moved *engine.MovedError
			if name == "SQL" {
				if engine.MovedClass(errText(err)) == nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if !errors.Is(err, engine.ErrMoved) || !errors.As(err, &moved) || moved.Place() != "postgres://there/new" {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, after := range tables(t, old) {
			if len(after) != len(before[name]) {
				t.Errorf("%s was written to", name)
			}
		}
	})
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func inTx(t *testing.T, d dbtest.Database, fn func(tx *sql.Tx) error) error {
	t.Helper()
	tx := d.Begin(t)
	defer func() { _ = tx.Rollback() }()
	return fn(tx)
}

// bySQL writes as a program in another language does.
func bySQL(t *testing.T, d dbtest.Database) error {
	t.Helper()
	statement := "UPDATE " + d.Table("outbox_ready") + " SET retry = 9"
	if d.Engine() == "postgres" {
		statement = "SELECT " + d.Table("outbox_enqueue") + "('x', 'y'::text)"
	}
	_, err := d.SQL.ExecContext(t.Context(), statement)
	return err
}

// D-257: a store is closed once no transaction is open that has written to it, so that what such
// a transaction commits moves as well; one with an older snapshot cannot write afterwards.
func TestOpenTransactionsEndFirst(t *testing.T) {
	t.Parallel()
	old, new := dbtest.OpenPostgres(t), dbtest.OpenSQLite(t)
	ctx := t.Context()
	p := open(t, old)
	tx := old.Begin(t)
	defer func() { _ = tx.Rollback() }()
	_, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "late"})
	must(t, err)
	stale, err := old.SQL.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	must(t, err)
	defer func() { _ = stale.Rollback() }()
	var n int
	must(t, stale.QueryRowContext(ctx, "SELECT count(*) FROM "+old.Table("outbox_message")).Scan(&n)) // takes the snapshot
	movesBehind(t, old, new, tx, quiet(), func() bool {
		return old.Count(t, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CREATE TRIGGER pawl_move%"+strings.Trim(strings.TrimSuffix(old.Table(""), "."), `"`)+"%'") > 0
	})
	if _, err := p.Outbox.EnqueueTx(ctx, stale, outbox.Message{Topic: "stale"}); !errors.Is(err, engine.ErrMoved) {
		t.Errorf("a transaction with an older snapshot wrote: %v", err)
	}
}

// movesBehind moves a store that waits for a transaction, which then commits: its message moves as well.
func movesBehind(t *testing.T, old, new dbtest.Database, tx interface{ Commit() error }, o move.Options, waits func() bool) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := move.Run(t.Context(), sideOf(old, "old"), sideOf(new, "new"), o)
		ended <- err
	}()
	dbtest.Until(t, "the move waits for the transaction", waits)
	must(t, tx.Commit())
	must(t, <-ended)
	if got := len(rows(t, new, engine.Tables()[1])); got != 1 {
		t.Errorf("%d messages moved, want 1", got)
	}
}

// D-257: so it is on SQL Server.
func TestOpenTransactionsEndFirstOnSQLServer(t *testing.T) {
	old, new := dbtest.Named(t, "sqlserver").Open(t), dbtest.OpenSQLite(t)
	ctx := t.Context()
	p := open(t, old)
	tx := old.Begin(t)
	defer func() { _ = tx.Rollback() }()
	_, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "late"})
	must(t, err)
	waits, o := &lines{}, quiet()
	o.Logger = slog.New(slog.NewTextHandler(waits, nil))
	movesBehind(t, old, new, tx, o, func() bool { return waits.has("will try again") })
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), part)
}

// D-258: what handlers are at is finished before a store is closed, and nothing new begins.
func TestDrain(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		p := open(t, old)
		for range 2 {
			_, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "x"})
			must(t, err)
		}
		owner := outbox.NewOwnerToken()
		msgs, err := p.Outbox.WorkQueue("").Claim(ctx, owner, time.Minute, 1)
		must(t, err)
		ended := make(chan error, 1)
		writes := 0
		from := sideOf(old, "old")
		from.DB = &closing{failing: failingAt(old, &writes, 0, false), before: func() {
			if n := len(rows(t, old, *tableNamed("outbox_claim"))); n > 0 {
				t.Errorf("the store is closed while %d runs are claimed", n)
			}
		}}
		go func() {
			_, err := move.Run(ctx, from, sideOf(new, "new"), quiet())
			ended <- err
		}()
		dbtest.Until(t, "the queue is paused", func() bool {
			pauses, err := p.Admin.Pauses(ctx)
			return err == nil && len(pauses) == 1
		})
		if more, err := p.Outbox.WorkQueue("").Claim(ctx, outbox.NewOwnerToken(), time.Minute, 1); err != nil || len(more) > 0 {
			t.Errorf("claimed %d while the store is drained, %v", len(more), err)
		}
		n, err := p.Outbox.WorkQueue("").Ack(ctx, owner, msgs[0].Position)
		must(t, err)
		must(t, <-ended)
		if n != 1 {
			t.Errorf("acked %d", n)
		}
		counts, err := open(t, new).Outbox.Count(ctx)
		must(t, err)
		if counts.Ready != 1 || counts.Done != 1 {
			t.Errorf("in the new database %+v, want one ready and one done", counts)
		}
		if pauses, err := open(t, new).Admin.Pauses(ctx); err != nil || len(pauses) > 0 {
			t.Errorf("pauses %+v, %v", pauses, err)
		}
	})
}

// D-258: a claim that commits after the drain read the claims is finished as well.
func TestClaimDuringTheDrain(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		p := open(t, old)
		_, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "x"})
		must(t, err)
		owner := outbox.NewOwnerToken()
		msgs, err := p.Outbox.WorkQueue("").Claim(ctx, owner, time.Minute, 1)
		must(t, err)
		writes := 0
		from := sideOf(old, "old")
		from.DB = &early{failing: failingAt(old, &writes, 0, false), next: func() {
			if n, err := p.Outbox.WorkQueue("").Ack(ctx, owner, msgs[0].Position); err != nil || n != 1 {
				t.Errorf("acked %d, %v", n, err)
			}
		}}
		_, err = move.Run(ctx, from, sideOf(new, "new"), quiet())
		must(t, err)
		counts, err := open(t, new).Outbox.Count(ctx)
		must(t, err)
		if counts.Done != 1 {
			t.Errorf("in the new database %+v, want one done", counts)
		}
	})
}

// early reads the claims for the first time before one that is there commits.
type early struct {
	*failing
	next  func() // the second time
	times int
}

func (e *early) Read(ctx context.Context, c *engine.Call) error {
	if _, ok := c.Operation.(op.OutboxListClaimed); !ok {
		return e.failing.Read(ctx, c)
	}
	switch e.times++; e.times {
	case 1:
		return nil
	case 2:
		e.next()
	}
	return e.failing.Read(ctx, c)
}

// closing calls a function before the store is closed.
type closing struct {
	*failing
	before func()
}

func (c *closing) PutFence(ctx context.Context, f engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	c.before()
	return c.failing.PutFence(ctx, f, tables, fn)
}

func tableNamed(name string) *engine.Table {
	for _, t := range engine.Tables() {
		if t.Name == name {
			return &t
		}
	}
	return nil
}
