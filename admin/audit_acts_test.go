package admin_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// act is what an operator does to one thing.
type act struct {
	name, action, target string
	do                   func(ctx context.Context) error
	in                   func(ctx context.Context, tx outbox.Tx) error // nil: there is no such call
	state                func() string                                 // of the thing
	always               bool                                          // it can be done any number of times
}

// acts are those on things of their own, which are made on f, and acted on by "on".
func (f *fixture) acts(on *fixture) []act {
	f.t.Helper()
	return append(append(f.timerActs(on), f.jobActs(on)...), f.joinAct(on), f.leaseAct(on), f.inboxAct(on))
}

func (f *fixture) timerActs(on *fixture) []act {
	schedule := func(key string) timer.ID {
		f.t.Helper()
		id, err := f.Timers.Schedule(f.ctx(), timer.Timer{Topic: "t", Due: time.Now().Add(time.Hour), Key: key})
		f.check(err)
		return id
	}
	cancelled, named, moved := schedule(""), schedule(`k"1`), schedule("")
	due := time.Now().Add(2 * time.Hour).Truncate(time.Second)
	state := func(id timer.ID) func() string {
		return func() string {
			i, err := f.Timers.Get(f.ctx(), id)
			f.check(err)
			return fmt.Sprint(i.Status, i.Due)
		}
	}
	did := func(_ bool, err error) error { return err }
	return []act{
		{"timer/cancel", audit.Cancel, "timer " + cancelled.String(),
			func(ctx context.Context) error { return did(on.Timers.Cancel(ctx, cancelled)) },
			func(ctx context.Context, tx outbox.Tx) error { return did(on.Timers.CancelTx(ctx, tx, cancelled)) }, state(cancelled), false},
		{"timer/cancel_key", audit.Cancel, `timer key "k\"1"`,
			func(ctx context.Context) error { return did(on.Timers.CancelKey(ctx, `k"1`)) },
			func(ctx context.Context, tx outbox.Tx) error { return did(on.Timers.CancelKeyTx(ctx, tx, `k"1`)) }, state(named), false},
		{"timer/reschedule", audit.Reschedule, "timer " + moved.String(),
			func(ctx context.Context) error { return did(on.Timers.Reschedule(ctx, moved, due)) },
			func(ctx context.Context, tx outbox.Tx) error { return did(on.Timers.RescheduleTx(ctx, tx, moved, due)) }, state(moved), true},
	}
}

func (f *fixture) jobActs(on *fixture) []act {
	for _, name := range []string{"off", "on", "run", "gone"} {
		f.check(f.Jobs.Put(f.ctx(), job.Job{Name: name, Topic: "t", Schedule: "@yearly"}))
	}
	f.check(f.Jobs.SetEnabled(f.ctx(), "on", false))
	state := func(name string) func() string {
		return func() string {
			i, err := f.Jobs.Get(f.ctx(), name)
			if errors.Is(err, job.ErrNotFound) {
				return "not found"
			}
			f.check(err)
			return fmt.Sprint(i.Enabled, i.LastRunID)
		}
	}
	put := job.Job{Name: "new", Topic: "t", Schedule: "@yearly"}
	return []act{
		{"job/put", audit.Put, "job new", func(ctx context.Context) error { return on.Jobs.Put(ctx, put) }, nil, state("new"), false},
		{"job/disable", audit.Disable, "job off", func(ctx context.Context) error { return on.Jobs.SetEnabled(ctx, "off", false) }, nil, state("off"), false},
		{"job/enable", audit.Enable, "job on", func(ctx context.Context) error { return on.Jobs.SetEnabled(ctx, "on", true) }, nil, state("on"), false},
		{"job/trigger", audit.Trigger, "job run", func(ctx context.Context) error { _, err := on.Jobs.Trigger(ctx, "run"); return err }, nil, state("run"), true},
		{"job/delete", audit.Remove, "job gone", func(ctx context.Context) error {
			if err := on.Jobs.Delete(ctx, "gone"); !errors.Is(err, job.ErrNotFound) {
				return err
			}
			return nil
		}, nil, state("gone"), false},
	}
}

func (f *fixture) joinAct(on *fixture) act {
	id, err := f.Joins.Start(f.ctx(), join.Spec{ExpectedSteps: 1})
	f.check(err)
	return act{"join/cancel", audit.Cancel, "join " + id.String(),
		func(ctx context.Context) error { _, err := on.Joins.Cancel(ctx, id); return err },
		func(ctx context.Context, tx outbox.Tx) error { _, err := on.Joins.CancelTx(ctx, tx, id); return err },
		func() string {
			j, err := f.Joins.Get(f.ctx(), id)
			f.check(err)
			return string(j.Status)
		}, false}
}

func (f *fixture) leaseAct(on *fixture) act {
	l, err := f.Leases.Acquire(f.ctx(), "books", lease.Options{Duration: time.Hour})
	f.check(err)
	f.t.Cleanup(func() { _ = l.Close(context.Background()) })
	return act{"lease/force", audit.Release, "lease books",
		func(ctx context.Context) error { _, err := on.Leases.ForceRelease(ctx, "books"); return err }, nil,
		func() string {
			i, err := f.Leases.Get(f.ctx(), "books")
			f.check(err)
			return fmt.Sprint(i.Status == lease.Held, i.Token)
		}, false}
}

func (f *fixture) inboxAct(on *fixture) act {
	k := inbox.Key{Source: "broker", MessageID: "m 1"}
	_, err := f.Inbox.AlreadyProcessed(f.ctx(), k)
	f.check(err)
	_, err = f.Inbox.MarkDead(f.ctx(), k)
	f.check(err)
	return act{"inbox/revive", audit.Revive, "inbox broker/m 1",
		func(ctx context.Context) error { _, err := on.Inbox.Revive(ctx, k); return err }, nil,
		func() string {
			i, err := f.Inbox.Get(f.ctx(), k)
			f.check(err)
			return string(i.Status)
		}, false}
}

// D-116: what operators do to timers, jobs, joins, leases and messages of the inbox is noted, with who did it and why;
// what changes nothing is not.
func TestAuditActs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ctx := admin.WithReason(admin.WithActor(f.ctx(), "alice@ops"), "INC-42")
		for _, a := range f.acts(f) {
			notes, before := len(f.trail(audit.Options{})), a.state()
			f.check(a.do(ctx))
			all := f.trail(audit.Options{})
			got := all[0]
			if len(all) != notes+1 || got.Action != a.action || got.Target != a.target || got.Actor != "alice@ops" || got.Reason != "INC-42" || got.Count != 1 || a.state() == before {
				t.Errorf("%s: %d entries more, the last is %+v", a.name, len(all)-notes, got)
			}
			if a.always {
				continue
			}
			f.check(a.do(ctx))
			if n := len(f.trail(audit.Options{})); n != notes+1 {
				t.Errorf("%s: done again, it left %d entries more", a.name, n-notes-1)
			}
		}
	})
}

// D-116: in the caller's transaction the note stays or goes with it.
func TestAuditActsInTransaction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		ctx := admin.WithActor(f.ctx(), "bob")
		for _, a := range f.acts(f) {
			if a.in == nil {
				continue
			}
			notes, before := len(f.trail(audit.Options{})), a.state()
			tx := f.db.Begin(t)
			f.check(a.in(ctx, tx))
			f.check(tx.Rollback())
			if n := len(f.trail(audit.Options{})); n != notes || a.state() != before {
				t.Errorf("%s: rolled back, it left %d entries and %s", a.name, n-notes, a.state())
			}
			tx = f.db.Begin(t)
			f.check(a.in(ctx, tx))
			f.check(tx.Commit())
			if all := f.trail(audit.Options{}); len(all) != notes+1 || all[0].Action != a.action || all[0].Target != a.target || all[0].Actor != "bob" || a.state() == before {
				t.Errorf("%s: committed, it left %d entries, the last %+v", a.name, len(all)-notes, all[0])
			}
		}
	})
}

// A dead message that waits in the queue, too, is revived in one transaction, with one note.
func TestAuditReviveWithItsMessage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		k := inbox.Key{Source: "broker", MessageID: "1"}
		_, err := f.Inbox.Enqueue(f.ctx(), inbox.Message{Key: k, Topic: "t"})
		f.check(err)
		queued, err := f.Outbox.Get(f.ctx(), inbox.MessageIDOf(access.Key{}, k))
		f.check(err)
		owner := outbox.NewOwnerToken()
		_, err = f.Outbox.WorkQueue("inbox").Claim(f.ctx(), owner, time.Minute, 1)
		f.check(err)
		_, err = f.Outbox.WorkQueue("").Fail(f.ctx(), owner, errors.New("no"), queued.Position)
		f.check(err)
		_, err = f.Inbox.MarkDead(f.ctx(), k)
		f.check(err)
		if ok, err := f.Inbox.Revive(f.ctx(), k); !ok || err != nil {
			t.Fatal(ok, err)
		}
		f.only(audit.Revive, 1)
		if all := f.trail(audit.Options{}); len(all) != 1 {
			t.Errorf("noted twice: %+v", all)
		}
		f.status(outbox.Ready, queued.Position)
		f.db.CheckPlaces(t)
	})
}

// D-116: without an actor it is the process that did it, and an empty reason is none.
func TestAuditActsOfNobody(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for _, a := range f.acts(f) {
			f.check(a.do(admin.WithReason(f.ctx(), " ")))
			if got := f.trail(audit.Options{})[0]; got.Actor != processName() || got.Reason != "" {
				t.Errorf("%s: noted as %+v", a.name, got)
			}
		}
		inner := admin.WithReason(admin.WithReason(f.ctx(), "outer"), "")
		f.check(f.Jobs.Put(inner, job.Job{Name: "another", Topic: "t", Schedule: "@yearly"}))
		if got := f.trail(audit.Options{})[0]; got.Reason != "outer" {
			t.Errorf("noted with %q", got.Reason)
		}
	})
}
