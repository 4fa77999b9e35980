package join_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// eachAndRepeatableRead runs a test of many sessions at the same joins also where the
// default isolation level is repeatable read.
//
// D-33, D-39, D-113: a role's default isolation level changes nothing.
func eachAndRepeatableRead(t *testing.T, test func(*testing.T, dbtest.Engine)) {
	t.Helper()
	dbtest.Each(t, test)
	t.Run("repeatable read", func(t *testing.T) {
		t.Parallel()
		test(t, dbtest.RepeatableRead())
	})
}

// fixture is joins and their outbox on a fresh database.
type fixture struct {
	*parts.Joins
	box *parts.Outbox
	t   *testing.T
	db  dbtest.Database
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func open(t *testing.T, e dbtest.Engine, opts ...join.Options) *fixture {
	t.Helper()
	var o join.Options
	if len(opts) > 0 {
		o = opts[0]
	}
	db := e.Open(t)
	return on(t, db, db.DB, o)
}

// on returns joins over one handle on a database.
func on(t *testing.T, db dbtest.Database, handle engine.DB, o join.Options, log ...*slog.Logger) *fixture {
	box := parts.NewOutbox(handle, worker.Options{StopWhenEmpty: true, Logger: quiet(), Retention: time.Hour})
	return &fixture{Joins: parts.NewJoins(handle, box, o, append(log, quiet())[0]), box: box, t: t, db: db}
}

const lease = time.Minute

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// start starts a join that expects n steps.
func (f *fixture) start(n int) join.ID {
	f.t.Helper()
	id, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: n})
	f.check(err)
	return id
}

// enqueue stores n messages of a topic.
func (f *fixture) enqueue(topic string, n int) []outbox.MessageID {
	f.t.Helper()
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: topic, Payload: fmt.Append(nil, i)}
	}
	ids, err := f.box.EnqueueBatch(f.ctx(), msgs)
	f.check(err)
	return ids
}

// members starts a join of n steps and attaches as many messages.
func (f *fixture) members(n int) (join.ID, []outbox.MessageID) {
	f.t.Helper()
	id, msgs := f.start(n), f.enqueue("step", n)
	f.check(f.Attach(f.ctx(), id, msgs...))
	return id, msgs
}

// claim claims messages of topic step and returns them under one token.
func (f *fixture) claim(n int) (outbox.OwnerToken, map[outbox.MessageID]outbox.Position) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	msgs, err := f.box.WorkQueue("").Claim(f.ctx(), owner, lease, n)
	f.check(err)
	if len(msgs) != n {
		f.t.Fatalf("claimed %d messages, want %d", len(msgs), n)
	}
	items := map[outbox.MessageID]outbox.Position{}
	for _, m := range msgs {
		items[m.ID] = m.Position
	}
	return owner, items
}

func (f *fixture) ack(owner outbox.OwnerToken, ids ...outbox.Position) {
	f.t.Helper()
	n, err := f.box.WorkQueue("").Ack(f.ctx(), owner, ids...)
	f.check(err)
	if int(n) != len(ids) {
		f.t.Fatalf("acked %d messages, want %d", n, len(ids))
	}
}

func (f *fixture) fail(owner outbox.OwnerToken, ids ...outbox.Position) {
	f.t.Helper()
	n, err := f.box.WorkQueue("").Fail(f.ctx(), owner, errors.New("no"), ids...)
	f.check(err)
	if int(n) != len(ids) {
		f.t.Fatalf("failed %d messages, want %d", n, len(ids))
	}
}

// progress insists on a join's counters and status, and on the members' states
// saying the same (D-30).
func (f *fixture) progress(id join.ID, completed, failed int, status join.Status) *join.Info {
	f.t.Helper()
	j, err := f.Get(f.ctx(), id)
	f.check(err)
	if j.CompletedSteps != completed || j.FailedSteps != failed || j.Status != status {
		f.t.Fatalf("the join has %d completed and %d failed steps of %d and is %v, want %d, %d and %v",
			j.CompletedSteps, j.FailedSteps, j.ExpectedSteps, j.Status, completed, failed, status)
	}
	if c, d := f.states(id); c != completed || d != failed {
		f.t.Fatalf("the counters say %d completed and %d failed, the members %d and %d", completed, failed, c, d)
	}
	return j
}

// states counts members.
func (f *fixture) states(id join.ID) (completed, failed int) {
	f.t.Helper()
	members, err := engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{}), 10_000)
	f.check(err)
	for _, m := range members {
		switch m.Status {
		case join.Completed:
			completed++
		case join.Failed:
			failed++
		}
	}
	return completed, failed
}

// wait enqueues a wait that sends "done" or "failed".
func (f *fixture) wait(id join.ID, w ...join.Wait) outbox.MessageID {
	f.t.Helper()
	wait := usual()
	if len(w) > 0 {
		wait = w[0]
	}
	m, err := f.Wait(f.ctx(), id, wait)
	f.check(err)
	return m
}

func usual() join.Wait {
	return join.Wait{OnComplete: outbox.Message{Topic: "done", Payload: []byte("yes")}, OnFail: outbox.Message{Topic: "failed", Payload: []byte("no")}}
}

// drain handles what is due, with handlers for the topics given besides waits.
// Outboxes run once, so it works through another one on the same database.
func (f *fixture) drain(handlers map[string]outbox.Handler) {
	f.t.Helper()
	again := on(f.t, f.db, f.db.DB, join.Options{})
	for topic, h := range handlers {
		again.box.Handle(topic, h)
	}
	f.check(again.box.Run(f.ctx()))
}

// sent insists on how many messages of a topic there are.
func (f *fixture) sent(topic string, want int) []outbox.Info {
	f.t.Helper()
	got, err := engine.Collect(f.box.List(f.ctx(), outbox.ListOptions{Topic: topic}), 100)
	f.check(err)
	if len(got) != want {
		f.t.Fatalf("%d messages of topic %q were sent, want %d", len(got), topic, want)
	}
	return got
}

// find returns a message.
func (f *fixture) find(id outbox.MessageID) *outbox.Info {
	f.t.Helper()
	info, err := f.box.Get(f.ctx(), id)
	f.check(err)
	return info
}

// refused insists on an invalid argument that names the field.
func (f *fixture) refused(field string, err error) {
	f.t.Helper()
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, engine.ErrInvalid) || invalid.Field() != field {
		f.t.Fatalf("want an invalid %s, got %v", field, err)
	}
}
