package webhook

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// secret is one of the specification's examples.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receiver is an endpoint that remembers what it got.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []received
	says http.HandlerFunc // nil: 204
}

type received struct {
	path   string
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		r.got = append(r.got, received{q.URL.Path, q.Header, body})
		says := r.says
		r.mu.Unlock()
		if says == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		says(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

// answers sets what the endpoint answers from now on.
func (r *receiver) answers(status int, header ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.says = func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// one returns the only request that came.
func (r *receiver) one(t *testing.T) received {
	t.Helper()
	all := r.all()
	if len(all) != 1 {
		t.Fatalf("%d requests", len(all))
	}
	return all[0]
}

// process is a program with a sink that works on a database until nothing is due.
type process struct {
	*pawl.Pawl
	*Sink
	t  *testing.T
	db dbtest.Database
}

func start(t *testing.T, db dbtest.Database, o Options) *process {
	t.Helper()
	return begin(t, db, o, true)
}

// begin is start for a program that may go on when nothing is due.
func begin(t *testing.T, db dbtest.Database, o Options, stopWhenEmpty bool) *process {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p, err := pawl.New(db.DB, pawl.Options{StopWhenEmpty: stopWhenEmpty, Logger: o.Logger, Health: health.Options{Timeout: time.Minute}})
	must(t, err)
	if o.Transport == nil && o.Allow == nil {
		o.AllowPrivate = true
	}
	s, err := New(p, o)
	must(t, err)
	return &process{p, s, t, db}
}

// once is the policy of tests: one attempt.
func once() outbox.HandlerOptions {
	return outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 1}}
}

// later is a policy whose second attempt is not due in a test.
func later() outbox.HandlerOptions {
	return outbox.HandlerOptions{Retry: &outbox.RetryPolicy{Delay: func(int) time.Duration { return time.Hour }}}
}

func (p *process) enqueue(m outbox.Message) outbox.MessageID {
	p.t.Helper()
	id, err := p.Outbox.Enqueue(p.t.Context(), m)
	must(p.t, err)
	return id
}

// run handles what is due.
func (p *process) run() {
	p.t.Helper()
	must(p.t, p.Pawl.Run(p.t.Context()))
}

// info returns what became of a message.
func (p *process) info(id outbox.MessageID) *outbox.Info {
	p.t.Helper()
	i, err := p.Outbox.Get(p.t.Context(), id)
	must(p.t, err)
	return i
}

// attempt is one delivery, without the worker.
func (p *process) attempt(topic string) error {
	return p.deliver(p.t.Context(), topic, &outbox.Message{Topic: topic, Queue: outbox.DefaultQueue, Payload: []byte("{}")})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// roundTripper is a function that implements http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
