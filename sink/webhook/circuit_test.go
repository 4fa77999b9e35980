package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// pending reports whether the timer of a topic waits.
func (p *process) pending(topic string) bool {
	p.t.Helper()
	_, err := p.Timers.GetKey(p.t.Context(), timerKey+topic)
	if err != nil && !errors.Is(err, timer.ErrNotFound) {
		p.t.Fatal(err)
	}
	return err == nil
}

// acts returns the audit trail.
func (p *process) acts() []audit.Entry {
	p.t.Helper()
	entries, err := engine.Collect(audit.List(p.t.Context(), p.Internal(access.Key{}).DB, audit.Options{}), 100)
	must(p.t, err)
	return entries
}

// paused returns the reason for which a topic is paused, "" if it is not.
func (p *process) paused(topic string) string {
	p.t.Helper()
	all, err := p.Admin.Pauses(p.t.Context())
	must(p.t, err)
	for _, one := range all {
		if one.Kind == admin.Topic && one.Name == topic {
			if one.Actor != actor {
				p.t.Errorf("paused by %q", one.Actor)
			}
			return one.Reason
		}
	}
	return ""
}

// settle works until the timer of a topic has become a message that was handled.
func (p *process) settle(topic string) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.Pawl.Run(ctx) }()
	dbtest.Until(p.t, "the message of the timer is handled", func() bool {
		done, err := engine.Collect(p.Outbox.List(p.t.Context(), outbox.ListOptions{Topic: pauseTopic + topic, Status: outbox.Done}), 100)
		must(p.t, err)
		return len(done) > 0
	})
	cancel()
	must(p.t, <-ended)
}

// D-225: a topic whose deliveries have failed for PauseAfter is paused, and its messages stay.
func TestPause(t *testing.T) { dbtest.Each(t, testPause) }

func testPause(t *testing.T, e dbtest.Engine) {
	db := e.Open(t)
	r := newReceiver(t)
	r.answers(500)
	o := Options{Lookup: func(_ context.Context, id string, _ *outbox.Message) (*Endpoint, error) {
		return &Endpoint{URL: r.URL + "/" + id + "?token=canary"}, nil
	}, PauseAfter: time.Millisecond}
	p := start(t, db, o)
	p.Sink.Handle("webhook.*", later())
	id := p.enqueue(outbox.Message{Topic: "webhook.acme"})
	p.run()
	again := begin(t, db, o, false) // the process ended, and another one goes on
	again.Sink.Handle("webhook.*", later())
	again.settle("webhook.acme")
	reason := again.paused("webhook.acme")
	if !strings.Contains(reason, "no webhook was delivered since 20") || !strings.Contains(reason, "status 500") || strings.Contains(reason, "canary") {
		t.Errorf("reason %q", reason)
	}
	if again.paused("webhook.best") != "" || again.pending("webhook.acme") {
		t.Error("another topic is paused, or the timer waits")
	}
	if i := again.info(id); i.Status != outbox.Ready && i.Status != outbox.Scheduled {
		t.Errorf("the message is %s", i.Status)
	}
	if report := again.Health(t.Context()); report.Find("paused") == nil || !strings.Contains(report.Find("paused").Summary, "status 500") {
		t.Errorf("health %v", report.Find("paused"))
	}

	// After a resume everything begins anew.
	_, err := again.Admin.Resume(t.Context(), admin.Topic, "webhook.acme")
	must(t, err)
	if err := again.attempt("webhook.acme"); err == nil {
		t.Fatal("delivered")
	}
	dbtest.Until(t, "the next failure makes a timer", func() bool { return again.attempt("webhook.acme") != nil && again.pending("webhook.acme") })
}

// D-225: a delivery that succeeds cancels the timer, also that of another process.
// D-580: that is nobody's act.
func TestSuccessCancels(t *testing.T) { dbtest.Each(t, testSuccessCancels) }

func testSuccessCancels(t *testing.T, e dbtest.Engine) {
	db := e.Open(t)
	r := newReceiver(t)
	o := Options{Endpoint: &Endpoint{URL: r.URL}}
	p, other := start(t, db, o), start(t, db, o)
	r.answers(500)
	for range 3 {
		if p.attempt("t") == nil || other.attempt("t") == nil {
			t.Fatal("delivered")
		}
	}
	first, err := p.Timers.GetKey(t.Context(), timerKey+"t")
	must(t, err)
	if left := time.Until(first.Due); left > defaultPauseAfter || left < defaultPauseAfter-time.Hour || first.Topic != pauseTopic+"t" {
		t.Errorf("due in %v, topic %s", left, first.Topic)
	}
	all, err := engine.Collect(p.Timers.List(t.Context(), timer.ListOptions{}), 100)
	must(t, err)
	if len(all) != 1 {
		t.Errorf("%d timers", len(all))
	}
	r.answers(200)
	fresh := start(t, db, o) // knows nothing yet
	must(t, fresh.attempt("t"))
	if p.pending("t") {
		t.Error("the timer waits")
	}
	if acts := p.acts(); len(acts) != 0 {
		t.Errorf("the trail has %+v", acts)
	}
}

// D-225: what a process knows of the timer it believes for a minute, so that the database is not
// asked for every message; then it sees what others did.
func TestBelief(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	r := newReceiver(t)
	p := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}})
	now := time.Now()
	p.now = func() time.Time { return now }
	must(t, p.attempt("t"))
	other := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}})
	r.answers(500)
	if other.attempt("t") == nil || !p.pending("t") {
		t.Fatal("no timer")
	}
	r.answers(200)
	must(t, p.attempt("t"))
	if !p.pending("t") {
		t.Error("the database was asked within a minute")
	}
	now = now.Add(checkEvery)
	must(t, p.attempt("t"))
	if p.pending("t") {
		t.Error("the database was not asked after a minute")
	}

	// One that was cancelled comes back after a minute, with the time of the first failure.
	r.answers(500)
	now = now.Add(checkEvery)
	if p.attempt("t") == nil || !p.pending("t") {
		t.Fatal("no timer")
	}
	r.answers(200)
	must(t, p.attempt("t"))
	r.answers(500)
	failing := now
	if p.attempt("t") == nil || p.pending("t") {
		t.Error("a timer within a minute after it was cancelled")
	}
	now = now.Add(checkEvery)
	if p.attempt("t") == nil || !p.pending("t") {
		t.Fatal("no timer after a minute")
	}
	again, err := p.Timers.GetKey(t.Context(), timerKey+"t")
	must(t, err)
	if off := again.Due.Sub(failing.Add(defaultPauseAfter)); off.Abs() > time.Millisecond {
		t.Errorf("due %v off", off)
	}
}

// D-225: a timer that nobody cancelled pauses nothing if a message was delivered since.
func TestDeliveredSince(t *testing.T) { dbtest.Each(t, testDeliveredSince) }

func testDeliveredSince(t *testing.T, e dbtest.Engine) {
	db := e.Open(t)
	r := newReceiver(t)
	const after = 100 * time.Millisecond
	p := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}, PauseAfter: after})
	r.answers(500)
	if p.attempt("t") == nil {
		t.Fatal("delivered")
	}
	db.Pass(10 * time.Millisecond) // so that the delivery is later by the database's clock
	p.enqueue(outbox.Message{Topic: "t"})
	owner := outbox.NewOwnerToken() // another process, which knew of no timer
	claimed, err := p.Outbox.WorkQueue("").Claim(t.Context(), owner, time.Minute, 1)
	must(t, err)
	_, err = p.Outbox.WorkQueue("").Ack(t.Context(), owner, claimed[0].Position)
	must(t, err)
	db.Pass(after)
	last := begin(t, db, Options{Endpoint: &Endpoint{URL: r.URL}, PauseAfter: after}, false)
	last.Sink.Handle("t")
	last.settle("t")
	if reason := last.paused("t"); reason != "" {
		t.Errorf("paused: %q", reason)
	}
}

// D-225: an endpoint that is gone has its topic paused at once, and the message is not lost.
func TestGone(t *testing.T) { dbtest.Each(t, testGone) }

func testGone(t *testing.T, e dbtest.Engine) {
	db := e.Open(t)
	r := newReceiver(t)
	r.answers(500)
	p := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}})
	if p.attempt("t") == nil || !p.pending("t") {
		t.Fatal("no timer")
	}
	r.answers(410, "Retry-After", "1")
	p.Sink.Handle("t", later())
	id := p.enqueue(outbox.Message{Topic: "t"})
	p.run()
	if reason := p.paused("t"); !strings.Contains(reason, "410") || p.pending("t") {
		t.Errorf("reason %q, timer %v", reason, p.pending("t"))
	}
	if i := p.info(id); i.Status != outbox.Ready || i.RetryCount != 1 {
		t.Errorf("%s after %d", i.Status, i.RetryCount)
	}
	if entries := p.acts(); len(entries) != 1 || entries[0].Actor != actor || entries[0].Action != "pause" {
		t.Errorf("audit %+v", entries)
	}
}

// D-225: the circuit never makes a delivery fail, nor another error of one that did; and one that
// is switched off asks nothing.
func TestCircuitWithoutDatabase(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	r := newReceiver(t)
	p := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}})
	off := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}, PauseAfter: -1})
	r.answers(500)
	if off.attempt("t") == nil || p.pending("t") {
		t.Error("a timer although there is to be none")
	}
	if err := off.circuits.fire(t.Context(), &outbox.Message{Topic: pauseTopic + "t", Payload: []byte("{}")}); err != nil || off.paused("t") != "" {
		t.Errorf("%v, paused for %q", err, off.paused("t"))
	}
	must(t, db.DB.Close())
	for status, want := range map[int]string{204: "", 500: "500", 410: "410"} {
		r.answers(status)
		err := p.attempt("t")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// A delivery that ends because its process stops says nothing about the endpoint.
func TestStopIsNoFailure(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	p := start(t, dbtest.OpenSQLite(t), Options{Endpoint: &Endpoint{URL: r.URL}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.deliver(ctx, "t", &outbox.Message{Topic: "t"}); err == nil || p.pending("t") {
		t.Errorf("%v, timer %v", err, p.pending("t"))
	}
}

// However many topics there are, a process remembers a bounded number.
func TestCircuitsAreBounded(t *testing.T) {
	c := &circuits{all: map[circuitKey]*circuit{}}
	for i := range maxCircuits + 10 {
		c.of("", strings.Repeat("x", i%200)+string(rune(i)))
	}
	one := c.of("a", "t")
	if len(c.all) > maxCircuits || c.of("b", "t") == one || c.of("a", "t") != one {
		t.Errorf("%d circuits", len(c.all))
	}
}
