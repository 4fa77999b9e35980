package traces_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/traces"
)

// Whatever way a message goes, its handler's span knows where it came from.
func TestWay(t *testing.T) {
	ways := map[string]func(*testing.T, dbtest.Engine){
		"alone": testAlone, "in a transaction": testTx, "in a batch": testBatch, "none": testNoSpan, "timer": testTimer, "job": testJob,
		"inbox": testInbox, "join": testJoin, "onwards": testOnwards, "another process": testAnotherProcess,
	}
	eachEngine(t, func(t *testing.T, e dbtest.Engine) {
		for name, way := range ways {
			t.Run(name, func(t *testing.T) { way(t, e) })
		}
	})
}

func testAlone(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{})
	seen := p.handles("order.created", fine)
	var id outbox.MessageID
	request := p.within(func(ctx context.Context) {
		id = p.enqueue(ctx, outbox.Message{
			Topic: "order.created", Payload: []byte("body"), CorrelationID: "c-7", Priority: 3, Headers: map[string]string{"tenant": "acme"},
		})
	})
	p.run()

	create, process := p.one(t, "create order.created"), p.one(t, "process order.created")
	wantChild(t, create, request)
	wantLink(t, process, create.SpanContext())
	if create.SpanKind() != trace.SpanKindProducer || process.SpanKind() != trace.SpanKindConsumer {
		t.Errorf("kinds %v and %v", create.SpanKind(), process.SpanKind())
	}
	common := map[string]string{
		"messaging.system": "pawl", "messaging.destination.name": "order.created", "messaging.message.conversation_id": "c-7",
		"messaging.message.body.size": "4", "pawl.queue": "default", "pawl.priority": "3",
	}
	wantAttrs(t, create, common)
	wantAttrs(t, process, common)
	wantAttrs(t, create, map[string]string{"messaging.operation.name": "create", "messaging.operation.type": "create"})
	wantAttrs(t, process, map[string]string{
		"messaging.operation.name": "process", "messaging.operation.type": "process", "messaging.message.id": id.String(),
		"pawl.attempt": "1", "pawl.outcome": "acked", "error.type": "",
	})
	m := <-seen
	if m.Headers["tenant"] != "acme" || m.Headers["traceparent"] == "" || len(m.Headers) != 2 {
		t.Errorf("headers %v", m.Headers)
	}
}

func testTx(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{})
	p.handles("t", fine)
	request := p.within(func(ctx context.Context) {
		tx := p.db.Begin(t)
		_, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t"})
		must(t, err)
		must(t, tx.Commit())
	})
	p.run()
	create := p.one(t, "create t")
	wantChild(t, create, request)
	wantLink(t, p.one(t, "process t"), create.SpanContext())
}

// Each message of a batch can be told from the others.
func testBatch(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{})
	p.handles("t", fine)
	const n = 5
	p.within(func(ctx context.Context) {
		msgs := make([]outbox.Message, n)
		for i := range msgs {
			msgs[i] = outbox.Message{Topic: "t", CorrelationID: strconv.Itoa(i)}
		}
		_, err := p.Outbox.EnqueueBatch(ctx, msgs)
		must(t, err)
		if msgs[0].Headers != nil {
			t.Error("the caller's messages were changed")
		}
	})
	p.run()
	created := map[string]trace.SpanContext{}
	for _, sp := range p.named("create t") {
		created[attr(sp, "messaging.message.conversation_id")] = sp.SpanContext()
	}
	processed := p.named("process t")
	if len(created) != n || len(processed) != n {
		t.Fatalf("%d created and %d processed of %d", len(created), len(processed), n)
	}
	for _, sp := range processed {
		wantLink(t, sp, created[attr(sp, "messaging.message.conversation_id")])
	}
}

// Nothing is added to a message that nobody traces.
func testNoSpan(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{Baggage: true})
	seen := p.handles("t", fine)
	p.enqueue(t.Context(), outbox.Message{Topic: "t"})
	p.run()
	if m := <-seen; m.Headers != nil {
		t.Errorf("headers %v", m.Headers)
	}
	if got := len(p.named("create t")); got != 0 {
		t.Errorf("%d spans of an enqueue", got)
	}
	wantFresh(t, p.one(t, "process t"))
}

// A timer's message comes from where it was scheduled.
func testTimer(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{})
	p.handles("t", fine)
	request := p.within(func(ctx context.Context) {
		_, err := p.Timers.Schedule(ctx, timer.Timer{Topic: "t", Due: time.Now().Add(-time.Hour)})
		must(t, err)
	})
	p.run()
	create := p.one(t, "create t")
	wantChild(t, create, request)
	wantLink(t, p.one(t, "process t"), create.SpanContext())
}

// A job's runs have nothing to do with who stored the job, years ago.
func testJob(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{})
	seen := p.handles("t", fine)
	p.within(func(ctx context.Context) {
		must(t, p.Jobs.Put(ctx, job.Job{Name: "j", Topic: "t", Schedule: "0 0 1 1 *", Headers: map[string]string{"own": "1"}}))
		_, err := p.Jobs.Trigger(ctx, "j")
		must(t, err)
	})
	p.run()
	wantFresh(t, p.one(t, "process t"))
	if m := <-seen; m.Headers["traceparent"] != "" || m.Headers["own"] != "1" {
		t.Errorf("headers %v", m.Headers)
	}
}

// What came in with its sender's context is linked to that, in whatever span it was
// taken in.
func testInbox(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{})
	heard := make(chan inbox.Message, 9)
	p.HandleInbox("hook", func(_ context.Context, m *inbox.Message) error {
		heard <- *m
		return nil
	})
	const sender = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	p.within(func(ctx context.Context) {
		for id, h := range map[string]map[string]string{"bare": nil, "traced": {"Traceparent": sender}} {
			_, err := p.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: id}, CorrelationID: id, Topic: "hook", Headers: h})
			must(t, err)
		}
	})
	p.run()
	processed := p.named("process hook")
	if len(processed) != 2 {
		t.Fatalf("%d spans", len(processed))
	}
	create := p.one(t, "create hook")
	wantAttrs(t, create, map[string]string{"messaging.message.conversation_id": "bare", "pawl.queue": "inbox"})
	for _, sp := range processed {
		if attr(sp, "messaging.message.conversation_id") == "bare" {
			wantLink(t, sp, create.SpanContext())
		} else if got := sp.Links()[0].SpanContext; got.TraceID().String() != sender[3:35] || got.SpanID().String() != sender[36:52] {
			t.Errorf("linked to %v/%v", got.TraceID(), got.SpanID())
		}
	}
	for range 2 {
		if m := <-heard; m.MessageID == "traced" && (m.Headers["Traceparent"] != sender || len(m.Headers) != 1) {
			t.Errorf("headers %v", m.Headers)
		}
	}
}

// What a join sends belongs to the trace in which its wait was handled, which is
// linked to where the join was started.
func testJoin(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{})
	for _, topic := range []string{"step", "next"} {
		p.handles(topic, fine)
	}
	request := p.within(func(ctx context.Context) {
		_, err := p.Joins.FanOut(ctx, join.Spec{}, []outbox.Message{{Topic: "step"}, {Topic: "step"}}, join.Wait{OnComplete: outbox.Message{Topic: "next"}})
		must(t, err)
	})
	p.run()
	begun := p.one(t, "create join.wait")
	wantChild(t, begun, request)
	waits := p.named("process join.wait") // the first may have come too early
	for _, sp := range waits {
		wantLink(t, sp, begun.SpanContext())
		wantAttrs(t, sp, map[string]string{"pawl.outcome": "settled"})
	}
	create := p.one(t, "create next")
	wantChild(t, create, waits[len(waits)-1].SpanContext())
	wantLink(t, p.one(t, "process next"), create.SpanContext())
}

// What a handler enqueues comes from the handler's span; and the span in which Run
// was called has no part in any of it.
func testOnwards(t *testing.T, e dbtest.Engine) {
	p := open(t, e, traces.Options{})
	p.handles("first", func(ctx context.Context, _ *outbox.Message) error {
		p.enqueue(ctx, outbox.Message{Topic: "second"})
		return nil
	})
	p.handles("second", fine)
	p.enqueue(t.Context(), outbox.Message{Topic: "first"})
	p.within(func(ctx context.Context) { must(t, p.Run(ctx)) })
	first := p.one(t, "process first")
	wantFresh(t, first)
	create := p.one(t, "create second")
	wantChild(t, create, first.SpanContext())
	wantLink(t, p.one(t, "process second"), create.SpanContext())
}

func testAnotherProcess(t *testing.T, e dbtest.Engine) {
	here := open(t, e, traces.Options{})
	here.within(func(ctx context.Context) { here.enqueue(ctx, outbox.Message{Topic: "t"}) })
	far := here.db
	far.DB = here.db.Another(t)
	there := on(t, far, record(), traces.Options{})
	there.handles("t", fine)
	there.run()
	wantLink(t, there.one(t, "process t"), here.one(t, "create t").SpanContext())
}
