package join_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// OBX-093, JOIN-018, D-34
func TestWaitCompletes(t *testing.T) { dbtest.Each(t, testWaitCompletes) }

func testWaitCompletes(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(2)
	w := f.wait(id)
	f.drain(map[string]outbox.Handler{"step": succeed})
	f.progress(id, 2, 0, join.Completed)
	if got := f.sent("done", 1)[0]; string(got.Payload) != "yes" {
		t.Fatalf("sent %q", got.Payload)
	}
	f.sent("failed", 0)
	if got := f.find(w); got.Status != outbox.Done {
		t.Fatalf("the wait is %v", got.Status)
	}
}

// OBX-092, OBX-094, JOIN-017, JOIN-019, D-35
func TestWaitFails(t *testing.T) { dbtest.Each(t, testWaitFails) }

func testWaitFails(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(2)
	f.wait(id)
	silent := f.wait(id, join.Wait{OnComplete: outbox.Message{Topic: "done"}})
	f.drain(map[string]outbox.Handler{"step": func(_ context.Context, m *outbox.Message) error {
		if m.ID == msgs[0] {
			return failForGood(f.ctx(), m)
		}
		return nil
	}})
	f.progress(id, 1, 1, join.Failed)
	if got := f.sent("failed", 1)[0]; string(got.Payload) != "no" {
		t.Fatalf("sent %q", got.Payload)
	}
	f.sent("done", 0)
	if got := f.find(silent); got.Status != outbox.Done {
		t.Fatalf("the wait with nothing to send is %v", got.Status)
	}
}

// D-34: status is the wait's to lift.
func TestWaitAllowsFailures(t *testing.T) { dbtest.Each(t, testWaitAllowsFailures) }

func testWaitAllowsFailures(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(2)
	w := usual()
	w.AllowFailures = true
	f.drain(map[string]outbox.Handler{"step": failForGood})
	f.progress(id, 0, 2, join.Failed)
	f.wait(id, w)
	f.drain(nil)
	f.progress(id, 0, 2, join.Completed)
	f.sent("done", 1)
	f.sent("failed", 0)
}

// OBX-091, JOIN-016, D-33
func TestWaitParks(t *testing.T) { dbtest.Each(t, testWaitParks) }

func testWaitParks(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(2)
	w := f.wait(id)
	for range 12 { // more than a default policy's attempts
		f.drain(nil)
	}
	got := f.find(w)
	if got.Status != outbox.Ready || got.RetryCount != 0 || got.LastError != "" || time.Until(got.NextAttemptAt) < 24*time.Hour {
		t.Fatalf("the wait is %+v", got)
	}
	f.progress(id, 0, 0, join.Pending)
	for _, m := range msgs {
		_, err := f.ReportCompleted(f.ctx(), id, m)
		f.check(err)
	}
	f.drain(nil)
	f.sent("done", 1)
}

// D-33: workers that sleep are woken by the commit, not by their poll.
func TestWaitWoken(t *testing.T) { dbtest.Each(t, testWaitWoken) }

func testWaitWoken(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	w := f.wait(id)
	owner, items := f.claim(2) // the step and the wait
	_, err := f.box.Release(f.ctx(), owner, items[w])
	f.check(err)
	fired := runAsleep(f, w)
	f.ack(owner, items[msgs[0]])
	select {
	case <-fired:
	case <-time.After(2 * time.Minute):
		t.Fatal("nobody woke the wait")
	}
}

// D-33
func TestWaitWokenByReport(t *testing.T) { dbtest.Each(t, testWaitWokenByReport) }

func testWaitWokenByReport(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(1)
	w := f.wait(id)
	owner, items := f.claim(2)
	_, err := f.box.Release(f.ctx(), owner, items[w])
	f.check(err)
	fired := runAsleep(f, w)
	tx := f.db.Begin(t)
	_, err = f.ReportCompletedTx(f.ctx(), tx, id, msgs[0])
	f.check(err)
	f.check(tx.Commit())
	select {
	case <-fired:
	case <-time.After(2 * time.Minute):
		t.Fatal("nobody woke the wait")
	}
}

// runAsleep runs workers that poll once an hour, on a handle of their own, and
// returns when the wait is parked. The channel tells of the message it sends.
func runAsleep(f *fixture, w outbox.MessageID) <-chan struct{} {
	fired := make(chan struct{}, 1)
	handle := f.db.Another(f.t)
	box := parts.NewOutbox(handle, worker.Options{Logger: quiet(), PollInterval: time.Hour})
	parts.NewJoins(handle, box, join.Options{}, nil)
	box.Handle("done", func(context.Context, *outbox.Message) error {
		fired <- struct{}{}
		return nil
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- box.Run(ctx) }()
	f.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			f.t.Error(err)
		}
	})
	dbtest.Until(f.t, "the wait is parked", func() bool {
		got := f.find(w)
		return got.Status == outbox.Ready && time.Until(got.NextAttemptAt) > time.Hour
	})
	return fired
}

// D-34
func TestTwoWaits(t *testing.T) { dbtest.Each(t, testTwoWaits) }

func testTwoWaits(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.start(3)
	f.wait(id)
	f.drain(nil) // one is parked, the other comes later
	f.check(f.Attach(f.ctx(), id, f.enqueue("step", 3)...))
	second := usual()
	second.OnComplete.Topic = "also done"
	f.wait(id, second)
	f.wait(id)
	f.drain(map[string]outbox.Handler{"step": succeed})
	got := f.sent("done", 2)
	f.sent("also done", 1)
	if got[0].ID == got[1].ID {
		t.Fatal("two waits sent the same message")
	}
}

// D-34
func TestWaitAfterTheEnd(t *testing.T) { dbtest.Each(t, testWaitAfterTheEnd) }

func testWaitAfterTheEnd(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(1)
	f.drain(map[string]outbox.Handler{"step": succeed})
	f.progress(id, 1, 0, join.Completed)
	w := usual()
	w.ID = outbox.MessageID{4, 2}
	for range 3 {
		f.wait(id, w)
		f.drain(nil)
	}
	f.sent("done", 1)
	f.sent(join.DefaultTopic, 1)
}

// D-35
func TestWaitUnknown(t *testing.T) { dbtest.Each(t, testWaitUnknown) }

func testWaitUnknown(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	nowhere := uuid.New()
	if _, err := f.Wait(f.ctx(), nowhere, usual()); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	tx := f.db.Begin(t)
	if _, err := f.WaitTx(f.ctx(), tx, nowhere, usual()); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	f.check(tx.Rollback())
	if _, err := f.Cancel(f.ctx(), nowhere); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	f.sent("", 0)
	id, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: join.DefaultTopic, Payload: fmt.Appendf(nil, `{"JoinId":%q,"OnCompleteTopic":"done"}`, nowhere)})
	f.check(err)
	f.drain(nil)
	if got := f.find(id); got.Status != outbox.Failed {
		t.Fatalf("the wait for an unknown join is %v", got.Status)
	}
}

// D-35, D-400, D-5: a wait that this program cannot read has as many attempts as other messages.
func TestWaitBrokenPayload(t *testing.T) { dbtest.Each(t, testWaitBrokenPayload) }

func testWaitBrokenPayload(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(1)
	f.drain(map[string]outbox.Handler{"step": succeed})
	var waits []outbox.MessageID
	for _, payload := range []string{"", "secret", `{"JoinId":"secret"}`, `{"OnCompleteTopic":"secret"}`, `{"JoinId":7}`, `[]`,
		fmt.Sprintf(`{"JoinId":%q,"OnCompleteTopic":"  ","OnCompletePayload":"secret"}`, id)} {
		m, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: join.DefaultTopic, Payload: []byte(payload)})
		f.check(err)
		waits = append(waits, m)
	}
	for attempt := 1; attempt <= 10; attempt++ {
		f.drain(nil)
		for _, m := range waits {
			got := f.find(m)
			if failed := got.Status == outbox.Failed; failed != (attempt == 10) || got.LastError == "" || contains(got.LastError, "secret") {
				t.Fatalf("after attempt %d a wait is %v: %q", attempt, got.Status, got.LastError)
			}
			_, err := f.box.Reschedule(f.ctx(), time.Time{}, got.Position)
			f.check(err)
		}
	}
}

// OBX-093, JOIN-018: the seed's payload, enqueued as any message.
func TestWaitOfOtherPrograms(t *testing.T) { dbtest.Each(t, testWaitOfOtherPrograms) }

func testWaitOfOtherPrograms(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := f.start(1)
	for _, payload := range []string{
		`{"JoinId":%q,"FailIfAnyStepFailed":true,"OnCompleteTopic":"done","OnCompletePayload":"{\"transformId\":7}","OnFailTopic":"failed","OnFailPayload":null}`,
		`{"joinId":%q,"onCompleteTopic":"done","onCompletePayload":{"transformId":7}}`, // camel case, and JSON as it is
		`{"JoinId":%q,"OnCompleteTopic":"empty"}`,
	} {
		_, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: join.DefaultTopic, Payload: fmt.Appendf(nil, payload, id)})
		f.check(err)
	}
	f.drain(nil) // all are parked
	f.check(f.Attach(f.ctx(), id, f.enqueue("step", 1)...))
	f.drain(map[string]outbox.Handler{"step": succeed})
	for _, m := range f.sent("done", 2) {
		if string(m.Payload) != `{"transformId":7}` {
			t.Fatalf("sent %q", m.Payload)
		}
	}
	if m := f.sent("empty", 1)[0]; len(m.Payload) != 0 {
		t.Fatalf("sent %q", m.Payload)
	}
}

// D-35: what is sent is the message that was given, with an id of its own.
func TestWaitWholeMessage(t *testing.T) { dbtest.Each(t, testWaitWholeMessage) }

func testWaitWholeMessage(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(1)
	due := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	for _, payload := range []string{"", "text <&>\u2028ü", "\xff\x00binary"} {
		f.wait(id, join.Wait{OnComplete: outbox.Message{
			Topic: "done", Payload: []byte(payload), CorrelationID: "c", Headers: map[string]string{"k": "v"}, Due: due, Queue: "q", Priority: -3,
		}})
	}
	f.drain(map[string]outbox.Handler{"step": succeed})
	seen := map[string]bool{}
	for _, m := range f.sent("done", 3) {
		seen[string(m.Payload)] = true
		if m.CorrelationID != "c" || m.Headers["k"] != "v" || !m.Due.Equal(due) || m.Queue != "q" || m.Priority != -3 || m.ID.IsZero() {
			t.Fatalf("sent %+v", m)
		}
	}
	if !seen[""] || !seen["text <&>\u2028ü"] || !seen["\xff\x00binary"] {
		t.Fatalf("sent payloads %v", seen)
	}
}

// D-36
func TestCancel(t *testing.T) { dbtest.Each(t, testCancel) }

func testCancel(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(3)
	w := f.wait(id)
	owner, items := f.claim(4)
	_, err := f.box.Release(f.ctx(), owner, items[w])
	f.check(err)
	f.drain(nil)
	f.ack(owner, items[msgs[0]])
	if ended, err := f.Cancel(f.ctx(), id); !ended || err != nil {
		t.Fatalf("cancelled: %v, %v", ended, err)
	}
	if ended, err := f.Cancel(f.ctx(), id); ended || err != nil {
		t.Fatalf("cancelled again: %v, %v", ended, err)
	}
	f.ack(owner, items[msgs[1]])
	f.fail(owner, items[msgs[2]])
	f.progress(id, 1, 0, join.Cancelled)
	late := f.wait(id)
	f.drain(nil)
	for _, m := range []outbox.MessageID{w, late} {
		if got := f.find(m); got.Status != outbox.Done {
			t.Fatalf("a wait of a cancelled join is %v", got.Status)
		}
	}
	f.sent("done", 0)
	f.sent("failed", 0)
	over, _ := f.members(1)
	f.drain(map[string]outbox.Handler{"step": succeed})
	if ended, err := f.Cancel(f.ctx(), over); ended || err != nil {
		t.Fatalf("cancelled a completed join: %v, %v", ended, err)
	}
	f.progress(over, 1, 0, join.Completed)
}

// D-36
func TestDeadline(t *testing.T) { dbtest.Each(t, testDeadline) }

func testDeadline(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	deadline := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	id, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: 2, Deadline: deadline})
	f.check(err)
	msgs := f.enqueue("step", 2)
	f.check(f.Attach(f.ctx(), id, msgs...))
	lenient := usual()
	lenient.AllowFailures = true
	f.wait(id)
	f.wait(id, lenient)
	owner, items := f.claim(4) // without the deadline's, which is not due
	for m := range items {
		if m != msgs[0] && m != msgs[1] {
			_, err := f.box.Release(f.ctx(), owner, items[m])
			f.check(err)
		}
	}
	f.drain(nil)
	f.ack(owner, items[msgs[0]])
	f.progress(id, 1, 0, join.Pending)
	f.passed(deadline)
	f.drain(nil)
	f.progress(id, 1, 0, join.Failed)
	f.sent("failed", 2)
	f.sent("done", 0)
	f.ack(owner, items[msgs[1]])
	f.progress(id, 1, 0, join.Failed)
}

// passed has the deadline be over now, of joins and of the message that ends one.
func (f *fixture) passed(deadline time.Time) {
	f.t.Helper()
	_, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table("outbox_join")+" SET deadline_utc = "+f.db.Ago(time.Second))
	f.check(err)
	for _, m := range f.sent(join.DefaultTopic, 3) { // two are waits
		if m.Due.Equal(deadline) {
			n, err := f.box.Reschedule(f.ctx(), time.Time{}, m.Position)
			if f.check(err); n != 1 {
				f.t.Fatal("the deadline's message does not wait")
			}
		}
	}
}

// D-36: the end comes first, and nothing of the deadline is left behind.
func TestDeadlineNotReached(t *testing.T) { dbtest.Each(t, testDeadlineNotReached) }

func testDeadlineNotReached(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: 1, Deadline: time.Now().Add(time.Hour)})
	f.check(err)
	msgs := f.enqueue("step", 1)
	f.check(f.Attach(f.ctx(), id, msgs...))
	f.drain(map[string]outbox.Handler{"step": succeed})
	f.progress(id, 1, 0, join.Completed)
	if got := f.sent(join.DefaultTopic, 1)[0]; got.Status != outbox.Done {
		t.Fatalf("the deadline's message is %v", got.Status)
	}
}

// D-36
func TestDeadlineWithoutWaits(t *testing.T) { dbtest.Each(t, testDeadlineWithoutWaits) }

func testDeadlineWithoutWaits(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: 1, Deadline: time.Now().Add(-time.Hour)})
	f.check(err)
	f.drain(nil)
	f.progress(id, 0, 0, join.Failed)
	w := f.wait(id) // and a wait that comes later
	f.drain(nil)
	f.sent("failed", 1)
	if got := f.find(w); got.Status != outbox.Done {
		t.Fatalf("the wait is %v", got.Status)
	}
}

// D-8, D-36: a deadline before 1970 is one that has passed, not none.
func TestDeadlineBefore1970(t *testing.T) { dbtest.Each(t, testDeadlineBefore1970) }

func testDeadlineBefore1970(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, deadline := range []time.Time{time.Unix(0, -1), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(-300_000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		id, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: 1, Deadline: deadline})
		f.check(err)
		if j := f.progress(id, 0, 0, join.Pending); j.Deadline.Unix() != 0 {
			t.Errorf("the deadline %d is kept as %v", deadline.Unix(), j.Deadline)
		}
		f.drain(nil)
		f.progress(id, 0, 0, join.Failed)
	}
}

// D-8: follow-ups that are due before 1970, also in a year that JSON cannot
// express, are due at once.
func TestFollowUpBefore1970(t *testing.T) { dbtest.Each(t, testFollowUpBefore1970) }

func testFollowUpBefore1970(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(1)
	w := usual()
	w.OnComplete.Due = time.Date(-9999, 1, 1, 0, 0, 0, 0, time.UTC)
	f.wait(id, w)
	f.drain(map[string]outbox.Handler{"step": succeed})
	if got := f.sent("done", 1)[0]; !got.Due.IsZero() {
		t.Fatalf("the follow-up is due at %v", got.Due)
	}
}

// D-34: a worker that dies, or loses its lease, after each step of a wait
// leaves exactly one message.
func TestWaitCrashBeforeAck(t *testing.T) { dbtest.Each(t, testWaitCrashBeforeAck) }

func testWaitCrashBeforeAck(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, _ := f.members(1)
	w := f.wait(id)
	var calls atomic.Int64
	f.drain(map[string]outbox.Handler{"step": succeed})
	got := f.sent("done", 1)[0]
	// The wait is delivered again, as if its ack had been lost: an old backup, a
	// worker that slept through its lease.
	var owner outbox.OwnerToken
	stale := f.find(w).Message
	stale.Owner = owner
	f.box.Use(func(next outbox.Handler) outbox.Handler {
		return func(ctx context.Context, m *outbox.Message) error {
			calls.Add(1)
			for range 3 {
				if err := next(ctx, &stale); !errors.Is(err, worker.ErrSettled) {
					return fmt.Errorf("a stale delivery ended with %w", err)
				}
			}
			return nil
		}
	})
	again, err := f.box.Enqueue(f.ctx(), outbox.Message{Topic: join.DefaultTopic, Payload: []byte("any")})
	f.check(err)
	f.check(f.box.Run(f.ctx()))
	if got := f.find(again); got.Status != outbox.Done || calls.Load() != 1 {
		t.Fatalf("the stale deliveries ended as %v: %s", got.Status, got.LastError)
	}
	if after := f.sent("done", 1)[0]; after.ID != got.ID {
		t.Fatal("a stale delivery sent another message")
	}
}

// D-34
func TestWaitTopicAndQueue(t *testing.T) { dbtest.Each(t, testWaitTopicAndQueue) }

func testWaitTopicAndQueue(t *testing.T, e dbtest.Engine) {
	f := open(t, e, join.Options{Topic: "fan-in", Queue: "waits"})
	id, msgs := f.members(1)
	_, err := f.ReportCompleted(f.ctx(), id, msgs[0])
	f.check(err)
	f.wait(id)
	own := usual()
	own.Queue = "others"
	f.wait(id, own)
	f.check(f.box.Run(f.ctx())) // serves neither
	f.sent("done", 0)
	for _, m := range f.sent("fan-in", 2) {
		if m.Queue != "waits" && m.Queue != "others" {
			t.Fatalf("a wait is in queue %q", m.Queue)
		}
	}
	box := parts.NewOutbox(f.db.DB, worker.Options{StopWhenEmpty: true, Logger: quiet(), Queues: []string{"waits", "others"}})
	parts.NewJoins(f.db.DB, box, join.Options{Topic: "fan-in"}, nil)
	f.check(box.Run(f.ctx()))
	f.sent("done", 2)
}
