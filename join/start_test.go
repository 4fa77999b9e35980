package join_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// OBX-080, OBX-081, OBX-082, JOIN-005, JOIN-006, JOIN-007
func TestStart(t *testing.T) { dbtest.Each(t, testStart) }

func testStart(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	deadline := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	id, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: 3, GroupingKey: "customer-ü", Metadata: `{"type":"etl"}`, Deadline: deadline})
	f.check(err)
	j := f.progress(id, 0, 0, join.Pending)
	if j.ID != id || j.ExpectedSteps != 3 || j.GroupingKey != "customer-ü" || j.Metadata != `{"type":"etl"}` || !j.Deadline.Equal(deadline) ||
		j.CreatedAt.IsZero() || j.UpdatedAt.Before(j.CreatedAt) || j.CreatedAt.Location() != time.UTC {
		t.Fatalf("the join is %+v", j)
	}
	plain := f.progress(f.start(1), 0, 0, join.Pending)
	if plain.GroupingKey != "" || plain.Metadata != "" || !plain.Deadline.IsZero() || plain.ID == id {
		t.Fatalf("the join is %+v", plain)
	}
}

// D-2, D-32
func TestBadArguments(t *testing.T) { dbtest.Each(t, testBadArguments) }

func testBadArguments(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for field, s := range map[string]join.Spec{
		"expected steps": {},
		"grouping key":   {ExpectedSteps: 1, GroupingKey: strings.Repeat("ü", limits.GroupingKey+1)},
		"metadata":       {ExpectedSteps: 1, Metadata: strings.Repeat("x", limits.Metadata+1)},
		"deadline":       {ExpectedSteps: 1, Deadline: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		_, err := f.Start(f.ctx(), s)
		f.refused(field, err)
	}
	_, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: -1})
	f.refused("expected steps", err)
	_, err = f.Start(f.ctx(), join.Spec{ExpectedSteps: 1, Metadata: "a\x00b"})
	f.refused("metadata", err)
	_, err = f.Start(f.ctx(), join.Spec{ExpectedSteps: 1, GroupingKey: strings.Repeat("ü", limits.GroupingKey)})
	f.check(err)
	id := f.start(1)
	for field, w := range map[string]join.Wait{
		"topic":               {OnComplete: outbox.Message{Topic: strings.Repeat("x", limits.Topic+1)}},
		"correlation id":      {OnFail: outbox.Message{Topic: "t", CorrelationID: strings.Repeat("x", limits.CorrelationID+1)}},
		"on-complete message": {OnComplete: outbox.Message{Topic: "t", ID: outbox.MessageID{1}}},
		"queue":               {Queue: strings.Repeat("x", limits.Queue+1)},
		"payload":             {OnFail: outbox.Message{Topic: "t", Payload: make([]byte, limits.Payload+1)}},
	} {
		_, err := f.Wait(f.ctx(), id, w)
		f.refused(field, err)
	}
	_, err = f.StartTx(f.ctx(), nil, join.Spec{ExpectedSteps: 1})
	f.refused("transaction", err)
	f.refused("transaction", f.AttachTx(f.ctx(), nil, id))
	f.sent("", 0)
}

// D-4
func TestStartKnownID(t *testing.T) { dbtest.Each(t, testStartKnownID) }

func testStartKnownID(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := uuid.New()
	deadline := time.Now().Add(time.Hour)
	for steps := 2; steps < 4; steps++ {
		got, err := f.Start(f.ctx(), join.Spec{ID: id, ExpectedSteps: steps, Deadline: deadline})
		f.check(err)
		if got != id {
			t.Fatalf("started %v, want %v", got, id)
		}
	}
	if j := f.progress(id, 0, 0, join.Pending); j.ExpectedSteps != 2 {
		t.Fatalf("a second start made the join %+v", j)
	}
	f.sent(join.DefaultTopic, 1) // the deadline's
}

// D-3: every call in the caller's transaction, which sees its own work.
func TestStartInTransaction(t *testing.T) { dbtest.Each(t, testStartInTransaction) }

func testStartInTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tx := f.db.Begin(t)
	id, err := f.StartTx(f.ctx(), tx, join.Spec{ExpectedSteps: 2})
	f.check(err)
	a, err := f.box.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "step"})
	f.check(err)
	b, err := f.box.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "step"})
	f.check(err)
	f.check(f.AttachTx(f.ctx(), tx, id, a, b))
	_, err = f.WaitTx(f.ctx(), tx, id, usual())
	f.check(err)
	counted, err := f.ReportCompletedTx(f.ctx(), tx, id, a)
	f.check(err)
	if _, err := f.Get(f.ctx(), id); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("an uncommitted join was found: %v", err)
	}
	f.check(tx.Commit())
	if !counted {
		t.Fatal("the report did not count")
	}
	f.progress(id, 1, 0, join.Pending)
	tx = f.db.Begin(t)
	_, err = f.ReportFailedTx(f.ctx(), tx, id, b)
	f.check(err)
	f.check(tx.Commit())
	f.progress(id, 1, 1, join.Failed)
	other := f.start(1)
	tx = f.db.Begin(t)
	ended, err := f.CancelTx(f.ctx(), tx, other)
	f.check(err)
	f.check(tx.Commit())
	if !ended {
		t.Fatal("the join was not cancelled")
	}
	f.progress(other, 0, 0, join.Cancelled)
}

// D-3, OBX-034: what was rolled back never was.
func TestStartRolledBack(t *testing.T) { dbtest.Each(t, testStartRolledBack) }

func testStartRolledBack(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(2)
	more := f.enqueue("step", 1)
	tx := f.db.Begin(t)
	_, err := f.ReportCompletedTx(f.ctx(), tx, id, msgs[0])
	f.check(err)
	f.check(f.AttachTx(f.ctx(), tx, id, more...))
	_, err = f.CancelTx(f.ctx(), tx, id)
	f.check(err)
	fan, err := f.FanOutTx(f.ctx(), tx, join.Spec{}, []outbox.Message{{Topic: "lost"}}, usual())
	f.check(err)
	f.check(tx.Rollback())
	f.progress(id, 0, 0, join.Pending)
	members, err := engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{}), 100)
	f.check(err)
	if len(members) != 2 {
		t.Fatalf("%d members are left, want 2", len(members))
	}
	if _, err := f.Get(f.ctx(), fan.Join); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("a join that was rolled back was found: %v", err)
	}
	f.sent("lost", 0)
}

// OBX-083, OBX-084, JOIN-008, JOIN-009
func TestAttach(t *testing.T) { dbtest.Each(t, testAttach) }

func testAttach(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.start(2), f.enqueue("step", 2)
	f.check(f.Attach(f.ctx(), id))
	for range 3 {
		f.check(f.Attach(f.ctx(), id, msgs[0]))
	}
	f.check(f.Attach(f.ctx(), id, msgs[1], msgs[0], msgs[1]))
	members, err := engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{}), 100)
	f.check(err)
	if len(members) != 2 {
		t.Fatalf("the join has %d members, want 2", len(members))
	}
	for _, m := range members {
		info := f.find(m.MessageID)
		if m.Status != join.Pending || m.Topic != "step" || m.Position != info.Position || m.CreatedAt.IsZero() {
			t.Fatalf("a member is %+v", m)
		}
	}
	supplied, err := f.box.Enqueue(f.ctx(), outbox.Message{ID: outbox.MessageID{1, 2, 3}, Topic: "step"})
	f.check(err)
	f.check(f.Attach(f.ctx(), id, supplied))
}

// D-31: an error names what is unknown, and nothing is attached.
func TestAttachUnknown(t *testing.T) { dbtest.Each(t, testAttachUnknown) }

func testAttachUnknown(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.start(2), f.enqueue("step", 2)
	unknown := outbox.MessageID{9}
	err := f.Attach(f.ctx(), id, msgs[0], unknown, msgs[1])
	if !errors.Is(err, outbox.ErrNotFound) || !strings.Contains(err.Error(), unknown.String()) {
		t.Fatalf("attached an unknown message: %v", err)
	}
	// An id that looks as if pawl had made it.
	crafted := msgs[0]
	crafted[0] ^= 1
	if err := f.Attach(f.ctx(), id, crafted); !errors.Is(err, outbox.ErrNotFound) {
		t.Fatalf("attached a crafted id: %v", err)
	}
	nowhere := uuid.New()
	if err := f.Attach(f.ctx(), nowhere, msgs...); !errors.Is(err, join.ErrNotFound) || !strings.Contains(err.Error(), nowhere.String()) {
		t.Fatalf("attached to an unknown join: %v", err)
	}
	members, err := engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{}), 100)
	f.check(err)
	if len(members) != 0 {
		t.Fatalf("%d messages were attached", len(members))
	}
	tx := f.db.Begin(t) // and in a caller's transaction, which goes on
	if err := f.AttachTx(f.ctx(), tx, id, msgs[0], unknown); !errors.Is(err, outbox.ErrNotFound) {
		t.Fatalf("attached an unknown message: %v", err)
	}
	f.check(f.AttachTx(f.ctx(), tx, id, msgs[1]))
	f.check(tx.Commit())
	members, err = engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{}), 100)
	f.check(err)
	if len(members) != 1 || members[0].MessageID != msgs[1] {
		t.Fatalf("attached %v", members)
	}
}

// D-40
func TestFanOut(t *testing.T) { dbtest.Each(t, testFanOut) }

func testFanOut(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	msgs := []outbox.Message{{Topic: "a"}, {Topic: "b", Priority: -5}, {Topic: "a", Queue: "other"}}
	fan, err := f.FanOut(f.ctx(), join.Spec{GroupingKey: "g"}, msgs, usual())
	f.check(err)
	if j := f.progress(fan.Join, 0, 0, join.Pending); j.ExpectedSteps != 3 || j.GroupingKey != "g" {
		t.Fatalf("the join is %+v", j)
	}
	for i, id := range fan.Messages {
		if got := f.find(id); got.Topic != msgs[i].Topic || got.Priority != msgs[i].Priority {
			t.Fatalf("message %d is %+v", i, got)
		}
		f.check(f.Attach(f.ctx(), fan.Join, id)) // is one already
	}
	if got := f.find(fan.Wait); got.Topic != join.DefaultTopic {
		t.Fatalf("the wait is %+v", got)
	}
	quorum, err := f.FanOut(f.ctx(), join.Spec{ExpectedSteps: 1}, msgs, join.Wait{})
	f.check(err)
	if j := f.progress(quorum.Join, 0, 0, join.Pending); j.ExpectedSteps != 1 || !quorum.Wait.IsZero() {
		t.Fatalf("the join is %+v", j)
	}
	f.sent(join.DefaultTopic, 1)
}

// D-40, D-3
func TestFanOutTx(t *testing.T) { dbtest.Each(t, testFanOutTx) }

func testFanOutTx(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tx := f.db.Begin(t)
	fan, err := f.FanOutTx(f.ctx(), tx, join.Spec{Deadline: time.Now().Add(time.Hour)}, []outbox.Message{{Topic: "step"}, {Topic: "step", ID: outbox.MessageID{7}}}, usual())
	f.check(err)
	f.check(tx.Commit())
	f.progress(fan.Join, 0, 0, join.Pending)
	f.drain(map[string]outbox.Handler{"step": succeed, "done": succeed})
	f.progress(fan.Join, 2, 0, join.Completed)
	f.sent("done", 1)
	f.sent(join.DefaultTopic, 2)
	for _, w := range f.sent(join.DefaultTopic, 2) {
		if w.Status != outbox.Done {
			t.Fatalf("a wait is left: %+v", w)
		}
	}
}

// D-4, D-40: with an id of its own it can be repeated.
func TestFanOutAgain(t *testing.T) { dbtest.Each(t, testFanOutAgain) }

func testFanOutAgain(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := uuid.New()
	var first join.Fan
	for i := range 3 {
		fan, err := f.FanOut(f.ctx(), join.Spec{ID: id}, []outbox.Message{{Topic: "step"}, {Topic: "step"}}, usual())
		f.check(err)
		if i == 0 {
			first = fan
		}
		if fan.Join != id || fan.Wait != first.Wait || len(fan.Messages) != 2 || fan.Messages[0] != first.Messages[0] || fan.Messages[1] != first.Messages[1] {
			t.Fatalf("repeated, it made %+v, at first %+v", fan, first)
		}
		if i == 1 {
			f.drain(map[string]outbox.Handler{"step": succeed, "done": succeed})
		}
	}
	f.progress(id, 2, 0, join.Completed)
	f.sent("step", 2)
	f.sent(join.DefaultTopic, 1)
	f.sent("done", 1)
}

// D-2, D-40
func TestFanOutRefuses(t *testing.T) { dbtest.Each(t, testFanOutRefuses) }

func testFanOutRefuses(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	_, err := f.FanOut(f.ctx(), join.Spec{ExpectedSteps: 1}, nil, usual())
	f.refused("messages", err)
	_, err = f.FanOut(f.ctx(), join.Spec{}, []outbox.Message{{Topic: "a"}, {}}, usual())
	f.refused("topic", err)
	_, err = f.FanOut(f.ctx(), join.Spec{ExpectedSteps: -1}, []outbox.Message{{Topic: "a"}}, usual())
	f.refused("expected steps", err)
	f.sent("", 0)
	joins, err := engine.Collect(f.List(f.ctx(), join.ListOptions{}), 100)
	f.check(err)
	if len(joins) != 0 {
		t.Fatalf("left %d joins behind", len(joins))
	}
}
