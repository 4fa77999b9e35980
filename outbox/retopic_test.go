package outbox_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/outbox"
)

// retopic insists on what a Retopic did.
func (f *fixture) retopic(r acts.Retopic, want acts.Retopiced) {
	f.t.Helper()
	got, err := f.Retopic(f.ctx(), r)
	if err != nil || got != want {
		f.t.Fatalf("%+v, %v; not %+v", got, err, want)
	}
}

// claimed returns the topics and payloads of what is claimed of a queue, in order.
func (f *fixture) claimed(queue string) (all []string) {
	f.t.Helper()
	msgs, err := f.WorkQueue(queue).Claim(f.ctx(), outbox.NewOwnerToken(), lease, 100)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, m := range msgs {
		all = append(all, m.Topic+" "+string(m.Payload))
	}
	return all
}

// D-657: one message of a topic gets another topic, and the others keep it.
func TestRetopicOne(t *testing.T) { dbtest.Each(t, testRetopicOne) }

func testRetopicOne(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var at []outbox.Position
	for range 3 {
		at = append(at, f.enqueue(outbox.Message{Topic: "old"}))
	}
	f.retopic(acts.Retopic{From: "old", Topic: "new", ID: int64(at[1])}, acts.Retopiced{Moved: 1})
	f.retopic(acts.Retopic{From: "old", Topic: "new", ID: int64(at[1])}, acts.Retopiced{})
	for i, topic := range []string{"old", "new", "old"} {
		if m := f.get(at[i]); m.Topic != topic {
			t.Errorf("message %d is of topic %s", i, m.Topic)
		}
	}
	if trail := f.trail(); len(trail) != 1 || trail[0].Target != fmt.Sprintf("message %d of topic old to topic new", at[1]) {
		t.Errorf("%+v", trail)
	}
}

// D-592: what waits or failed gets another topic, whatever it waits for; what runs and what is of another topic does not.
func TestRetopic(t *testing.T) { dbtest.Each(t, testRetopic) }

func testRetopic(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	failed := f.failAs("old", "no")
	f.enqueue(outbox.Message{Topic: "old", Payload: []byte("running")})
	owner, held := f.claimExactly(1)
	f.enqueueBatch(3) // of another topic, around
	ready := f.enqueue(outbox.Message{Topic: "old", Payload: []byte("ready")})
	later := f.enqueue(outbox.Message{Topic: "old", Payload: []byte("later"), Due: time.Now().Add(time.Hour)})
	f.enqueue(outbox.Message{Topic: "older", Payload: []byte("x")})
	f.retopic(acts.Retopic{From: "old", Topic: "new", DryRun: true}, acts.Retopiced{Moved: 3, Running: 1})
	f.status(ready, outbox.Ready)
	f.retopic(acts.Retopic{From: "old", Topic: "new"}, acts.Retopiced{Moved: 3, Running: 1})
	for id, status := range map[outbox.Position]outbox.Status{failed: outbox.Failed, ready: outbox.Ready, later: outbox.Ready} {
		if got := f.status(id, status); got.Topic != "new" {
			t.Errorf("%+v", got)
		}
	}
	if trail := f.trail(); len(trail) != 1 || trail[0].Action != "retopic" || trail[0].Target != "topic old to topic new" || trail[0].Count != 3 {
		t.Errorf("%+v", trail)
	}
	f.touched(1)(f.Release(f.ctx(), owner, positions(held)...))
	f.retopic(acts.Retopic{From: "old", Topic: "new"}, acts.Retopiced{Moved: 1})
	f.touched(1)(f.Redrive(f.ctx(), outbox.FailedFilter{Topic: "new"}))
	got := f.claimed("")
	slices.Sort(got)
	if want := []string{"new ", "new ready", "new running", "older x"}; !slices.Equal(got[:4], want) || len(got) != 7 {
		t.Errorf("%q", got)
	}
}

// D-592: the order of a key holds under the new topic, also of what waited for a pause or a limit.
func TestRetopicKeepsOrder(t *testing.T) { dbtest.Each(t, testRetopicKeepsOrder) }

func testRetopicKeepsOrder(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for n := range 3 {
		f.enqueue(outbox.Message{Topic: "old", OrderingKey: "k", Payload: fmt.Append(nil, n)})
	}
	owner, head := f.claimExactly(1) // puts the key in order: the others wait behind it
	f.enqueue(outbox.Message{Topic: "old", OrderingKey: "k", Payload: []byte("3")})
	f.retopic(acts.Retopic{From: "old", Topic: "new"}, acts.Retopiced{Moved: 3, Running: 1})
	if got := f.claimed(""); got != nil {
		t.Fatalf("%q beside the head", got)
	}
	f.retopic(acts.Retopic{From: "*", Queue: "q"}, acts.Retopiced{Kept: 3, Running: 1})
	f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, positions(head)...))
	for n := 1; n < 4; n++ {
		owner, msgs := f.claimExactly(1)
		if got := msgs[0].Topic + string(msgs[0].Payload); got != fmt.Sprint("new", n) {
			t.Fatalf("%s is the message %d", got, n)
		}
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	}
}

// D-592: another queue, by pattern: with the priority, and names whose rest stays.
func TestRetopicToQueue(t *testing.T) { dbtest.Each(t, testRetopicToQueue) }

func testRetopicToQueue(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueue(outbox.Message{Topic: "old.a", Payload: []byte("1"), Priority: 5})
	f.enqueue(outbox.Message{Topic: "old.b", Payload: []byte("2")})
	f.enqueue(outbox.Message{Topic: "new.c", Payload: []byte("3"), Queue: "q"})
	f.retopic(acts.Retopic{From: "old.*", Topic: "new.*", Queue: "q"}, acts.Retopiced{Moved: 2})
	if got := f.claimed(""); got != nil {
		t.Errorf("%q is in the old queue", got)
	}
	if got := f.claimed("q"); len(got) != 3 || got[2] != "new.a 1" || !slices.Contains(got, "new.b 2") {
		t.Errorf("%q", got)
	}
	for _, bad := range []acts.Retopic{{From: "old.*"}, {Topic: "new"}, {From: "old", Topic: "new.*"}, {From: "a", Topic: "b\x00"}} {
		if _, err := f.Retopic(f.ctx(), bad); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// D-592: what waited for a limit of the old topic, with a key or without, does not wait for it under the new one.
func TestRetopicOfLimited(t *testing.T) { dbtest.Each(t, testRetopicOfLimited) }

func testRetopicOfLimited(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if _, err := parts.NewAdmin(f.db).SetLimit(f.ctx(), admin.Topic, "old", outbox.Limit{Concurrency: 1}, ""); err != nil {
		t.Fatal(err)
	}
	f.enqueue(outbox.Message{Topic: "old", Payload: []byte("a")})
	f.enqueue(outbox.Message{Topic: "old", Payload: []byte("b")})
	f.enqueue(outbox.Message{Topic: "old", OrderingKey: "k", Payload: []byte("c")})
	f.enqueue(outbox.Message{Topic: "old", OrderingKey: "k", Payload: []byte("d")})
	if got := f.claimed(""); len(got) != 1 { // the others are met, and wait for the limit
		t.Fatalf("%q", got)
	}
	f.retopic(acts.Retopic{From: "old", Topic: "new"}, acts.Retopiced{Moved: 3, Running: 1})
	got := append(f.claimed(""), f.claimed("")...)
	if len(got) != 2 || slices.Contains(got, "new d") || !slices.Contains(got, "new c") { // d waits behind c, or a is the running one
		t.Errorf("%q", got)
	}
}
