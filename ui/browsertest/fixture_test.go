package browsertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/ui"
)

// canary calls a function of the page if what a program or a person wrote gets into it as it is.
const canary = `"><script>canary()</script><img src=x onerror=canary()>`

// Topics that tests need to name.
const (
	bad     = "bad" + canary
	paused  = "paused" + canary
	nightly = "nightly/" + canary // a job
)

// long is a word that no line of a phone has room for.
var long = strings.Repeat("abcdefghij", 12)

// workers run handlers: a database's, or a fleet's.
type workers interface {
	Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions)
	HandleInbox(topic string, h func(ctx context.Context, m *inbox.Message) error, opts ...outbox.HandlerOptions)
	Run(ctx context.Context) error
}

// world is a database, or a fleet of two, at which workers run.
type world struct {
	*pawl.Pawl // of a fleet that of its first store
	t          *testing.T
	source     ui.Source
	store      string // its key in a fleet

	repaired atomic.Bool   // what failed goes well from then on…
	proceed  chan struct{} // …once this is closed
	release  chan struct{} // ends what is in flight

	updates gate // for pages that fetch themselves

	failed, done, waiting outbox.MessageID
	join                  join.ID
}

// each runs a test on every engine, and on a fleet.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) { test(t, one(t, e)) })
	t.Run("fleet", func(t *testing.T) {
		t.Parallel()
		test(t, two(t))
	})
}

func newWorld(t *testing.T) *world {
	return &world{t: t, proceed: make(chan struct{}), release: make(chan struct{})}
}

func options() pawl.Options {
	return pawl.Options{Logger: slog.New(slog.DiscardHandler), Worker: "worker" + canary, PollInterval: 100 * time.Millisecond, EnableSchemaDeployment: true}
}

// one is a world of one database.
func one(t *testing.T, e dbtest.Engine) *world {
	t.Helper()
	w := newWorld(t)
	var err error
	w.Pawl, err = pawl.New(e.Open(t).DB, options())
	w.check(err)
	w.source = ui.Of(w.Pawl)
	w.handle(w.Pawl)
	w.fill(w.Pawl)
	w.run(w.Pawl)
	w.settled(w.Pawl)
	return w
}

// onSQLite is a world for what does not depend on the database.
func onSQLite(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return one(t, dbtest.Engine{Name: "sqlite", Open: dbtest.OpenSQLite})
}

// two is a world of a fleet of two stores.
func two(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	dir := t.TempDir()
	f, err := fleet.New(fleet.Static(
		fleet.Database{Key: "acme", URL: "sqlite:" + filepath.Join(dir, "acme.db")},
		fleet.Database{Key: "globex", URL: "sqlite:" + filepath.Join(dir, "globex.db")},
	), fleet.Options{Engines: map[string]fleet.Opener{"sqlite": sqlite.OpenURL}, Pawl: options(), PollFiles: 300 * time.Millisecond})
	w.check(err)
	t.Cleanup(func() { w.check(f.Close()) })
	w.handle(f)
	err = f.MigrateAll(w.ctx(), "")
	w.check(err)
	w.source, w.store = ui.OfFleet(f), "acme"
	var all []*pawl.Pawl
	for _, key := range []string{"globex", w.store} { // the last one is that of the tests
		w.Pawl, err = f.Pawl(t.Context(), key)
		w.check(err)
		w.fill(w.Pawl)
		all = append(all, w.Pawl)
	}
	w.run(f)
	for _, p := range all {
		w.settled(p)
	}
	return w
}

func (w *world) ctx() context.Context { return w.t.Context() }

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// handle registers the handlers.
func (w *world) handle(on workers) {
	ok := func(context.Context, *outbox.Message) error { return nil }
	for topic, h := range map[string]outbox.Handler{
		"mail": ok, "then": ok, "report": ok, "call.1": ok, long: ok, paused: ok, bad: w.badly,
		"step": refuseBad,
		"later": func(context.Context, *outbox.Message) error {
			return outbox.RetryAfter(time.Hour, errors.New("not now"))
		},
		"slow": func(context.Context, *outbox.Message) error { <-w.release; return nil },
	} {
		on.Handle(topic, h)
	}
	on.Handle("flaky", failOnce(), outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 5, Delay: func(int) time.Duration { return time.Millisecond }}})
	on.HandleInbox("parcel", func(ctx context.Context, m *inbox.Message) error {
		return refuseBad(ctx, &outbox.Message{Payload: m.Payload})
	})
}

// run runs the handlers until the test ends.
func (w *world) run(on workers) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- on.Run(ctx) }()
	w.t.Cleanup(func() {
		close(w.release)
		stop()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
}

// deep is JSON with a harmful key and value, as deep as folds go, and a word that no line has room for.
func deep() []byte {
	text, _ := json.Marshal(map[string]string{canary: canary, "long": long}) // it cannot fail
	return []byte(strings.Repeat(`{"again":[`, 9) + string(text) + strings.Repeat("]}", 9))
}

// badly fails until it is repaired, and then waits until it may end well.
func (w *world) badly(ctx context.Context, _ *outbox.Message) error {
	if !w.repaired.Load() {
		return outbox.Permanent(errors.New("refused " + canary))
	}
	select {
	case <-w.proceed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refuseBad fails for good if the payload says so.
func refuseBad(_ context.Context, m *outbox.Message) error {
	if string(m.Payload) == "bad" {
		return outbox.Permanent(errors.New("a bad step " + canary))
	}
	return nil
}

// failOnce fails the first of all attempts.
func failOnce() outbox.Handler {
	var tried atomic.Bool
	return func(context.Context, *outbox.Message) error {
		if tried.CompareAndSwap(false, true) {
			return errors.New("once " + canary)
		}
		return nil
	}
}

// fill gives a database something for every page, with names that would do harm.
func (w *world) fill(p *pawl.Pawl) {
	ctx := admin.WithActor(w.ctx(), "ann"+canary)
	enqueue := func(m outbox.Message) outbox.MessageID {
		id, err := p.Outbox.Enqueue(ctx, m)
		w.check(err)
		return id
	}
	_, err := p.Admin.Pause(ctx, admin.Topic, paused, canary)
	w.check(err)
	_, err = p.Admin.SetLimit(ctx, admin.EachTopic, "call.*", outbox.Limit{Concurrency: 2}, canary)
	w.check(err)
	w.failed = enqueue(outbox.Message{Topic: bad, Payload: []byte(`{"a":"the payload ` + `"}`), CorrelationID: canary, Headers: map[string]string{"h": canary}})
	w.done = enqueue(outbox.Message{Topic: "mail", Payload: []byte("secret " + canary)})
	w.waiting = enqueue(outbox.Message{Topic: "later", OrderingKey: "key" + canary})
	for _, topic := range []string{"flaky", "slow", "call.1", paused, long} {
		enqueue(outbox.Message{Topic: topic, CorrelationID: long})
	}
	fan, err := p.Joins.FanOut(ctx, join.Spec{GroupingKey: "group" + canary, Metadata: canary}, []outbox.Message{{Topic: "step"}, {Topic: "step", Payload: []byte("bad")}}, join.Wait{OnComplete: outbox.Message{Topic: "then"}})
	w.check(err)
	w.join = fan.Join
	_, err = p.Timers.Schedule(ctx, timer.Timer{Topic: "mail", Key: "key" + canary, Due: time.Now().Add(time.Hour)})
	w.check(err)
	w.check(p.Jobs.Put(ctx, job.Job{Name: nightly, Topic: "report", Schedule: "0 3 * * *", Zone: "Europe/Berlin", Payload: deep(), Headers: map[string]string{"h": canary}}))
	_, err = p.Jobs.Trigger(ctx, nightly)
	w.check(err)
	for _, payload := range []string{"good", "bad"} {
		_, err = p.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "shop" + canary, MessageID: payload + canary}, Topic: "parcel", Payload: []byte(payload)})
		w.check(err)
	}
	held, err := p.Leases.Acquire(ctx, "close-books"+canary, lease.Options{Owner: "host" + canary, Duration: time.Minute})
	w.check(err)
	w.t.Cleanup(func() { _ = held.Close(context.Background()) })
}

// settled waits until the workers have done what they can.
func (w *world) settled(p *pawl.Pawl) {
	for _, want := range []struct {
		status outbox.Status
		topic  string
	}{{outbox.Failed, bad}, {outbox.Done, "mail"}, {outbox.Done, "flaky"}, {outbox.Done, long}, {outbox.Done, "call.1"}, {outbox.Done, "report"}, {outbox.Failed, "step"}, {outbox.Done, "step"}, {outbox.InProgress, "slow"}} {
		dbtest.Until(w.t, want.topic+" is "+string(want.status), func() bool {
			list, err := engine.Collect(p.Outbox.List(w.ctx(), outbox.ListOptions{Status: want.status, Topic: want.topic}), 1)
			return err == nil && len(list) == 1
		})
	}
	dbtest.Until(w.t, "the join fails", func() bool {
		list, err := engine.Collect(p.Joins.List(w.ctx(), join.ListOptions{Status: join.Failed}), 1)
		return err == nil && len(list) == 1
	})
	dbtest.Until(w.t, "a message of the inbox is dead", func() bool {
		list, err := engine.Collect(p.Inbox.List(w.ctx(), inbox.ListOptions{Status: inbox.Dead}), 1)
		return err == nil && len(list) == 1
	})
	dbtest.Until(w.t, "a message waits for its next attempt", func() bool {
		list, err := engine.Collect(p.Outbox.List(w.ctx(), outbox.ListOptions{Topic: "later"}), 1)
		return err == nil && len(list) == 1 && list[0].RetryCount == 1 && list[0].Status == outbox.Ready
	})
}

// status is the state of a message.
func (w *world) status(id outbox.MessageID) outbox.Status {
	w.t.Helper()
	m, err := w.Outbox.Get(w.ctx(), id)
	w.check(err)
	return m.Status
}

// waits is how many messages of a topic are in a state.
func (w *world) waits(topic, state string) (n int64) {
	w.t.Helper()
	b, err := inspect.ReadBacklog(w.ctx(), w.Internal(access.Key{}).DB)
	w.check(err)
	for i := range b.Messages {
		if a := &b.Messages[i]; a.Topic == topic && a.State == state {
			n += a.Count
		}
	}
	return n
}

// below is where tests mount the dashboard: it must work below any path.
const below = "/ops/pawl/"

// olga may do everything.
func olga(*http.Request) (ui.Access, error) {
	return ui.Access{Name: "olga", Operator: true, Payloads: true}, nil
}

// serve serves the dashboard for the length of a test. Pages are kept up to date quickly.
func (w *world) serve(o ui.Options) *httptest.Server {
	w.t.Helper()
	o.Logger, o.Timeout = slog.New(slog.DiscardHandler), time.Minute // the machine may be slow
	if o.Refresh == 0 {
		o.Refresh = 200 * time.Millisecond
	}
	mux := http.NewServeMux()
	mux.Handle(below, w.updates.before(http.StripPrefix(strings.TrimSuffix(below, "/"), ui.Handler(w.source, o))))
	s := httptest.NewServer(mux)
	w.t.Cleanup(func() {
		s.CloseClientConnections() // pages that are open would keep it
		s.Close()
	})
	return s
}

// gate holds answers to pages that fetch themselves, while it is closed.
type gate struct {
	closed atomic.Pointer[chan struct{}]
	held   atomic.Int64 // how many were held
	asked  atomic.Int64 // how many requests came
	open   atomic.Int64 // how many of them are not answered
}

func (g *gate) close() {
	c := make(chan struct{})
	g.closed.Store(&c)
}

func (g *gate) release() { close(*g.closed.Swap(nil)) }

func (g *gate) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.asked.Add(1)
		g.open.Add(1)
		defer g.open.Add(-1)
		if c := g.closed.Load(); c != nil && r.Header.Get("HX-Request") != "" {
			g.held.Add(1)
			select {
			case <-*c:
			case <-r.Context().Done():
			}
		}
		next.ServeHTTP(w, r)
	})
}
