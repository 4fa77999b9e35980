package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// doors are where somebody asks what is wrong, each from outside the processes that work.
var doors = map[string]func(d *scene, topic string) string{
	"health": func(d *scene, _ string) string { return d.run("", "health", "--waiting", "1ms").stdout },
	"doctor": func(d *scene, _ string) string { return d.run("", "doctor").stdout },
	"explain": func(d *scene, topic string) string {
		id, _, _ := strings.Cut(d.must("", "ls", "--topic", topic, "-o", "id"), "\n")
		return d.run("", "explain", id).stdout
	},
	"backlog": func(d *scene, _ string) string { return strings.Join(strings.Fields(d.must("", "backlog")), " ") },
	"limits":  func(d *scene, _ string) string { return d.must("", "limits", "ls", "--json") },
	"enqueue": func(d *scene, topic string) string { return d.run("x", "enqueue", "--topic", topic).stderr },
	"stats":   func(d *scene, topic string) string { return d.run("", "stats", topic).stdout },
	"metrics": func(d *scene, _ string) (text string) {
		d.opened(func(s *store) {
			p, err := pawl.New(s.DB, pawl.Options{})
			d.check(err)
			c, err := metrics.New(p, metrics.Options{})
			d.check(err)
			r := prometheus.NewPedanticRegistry()
			d.check(r.Register(c))
			w := httptest.NewRecorder()
			promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			text = w.Body.String()
		})
		return text
	},
	"api": func(d *scene, _ string) (text string) {
		d.opened(func(s *store) {
			p, err := pawl.New(s.DB, pawl.Options{})
			d.check(err)
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/api/v1/health", nil)
			r.Host, r.RemoteAddr = "localhost", "127.0.0.1:1"
			ui.Handler(ui.Of(p), ui.Options{}).ServeHTTP(w, r)
			text = w.Body.String()
		})
		return text
	},
}

// scene is a database in whose users' work something goes wrong.
type scene struct {
	*database
	stop func() // the process that works
}

func (d *scene) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// program is what a process that works runs.
type program struct {
	pawl.Options
	topics   []string // with the handler
	handler  outbox.Handler
	limit    *outbox.Limit
	queries  bool          // its handlers use the pool of connections until it is stopped
	clockOff time.Duration // by which its clock is ahead
}

// working starts a process that runs a program, which ends when nothing is due if its options say so, or
// when stop is called.
func (d *scene) working(g program) {
	ctx, cancel := context.WithCancel(d.t.Context())
	ended, ready := make(chan struct{}), make(chan struct{})
	go d.opened(func(s *store) {
		defer close(ended)
		p, err := d.pawl(s.DB, &g)
		close(ready)
		if err == nil {
			err = p.Run(ctx)
		}
		if err != nil {
			d.t.Error(err)
		}
	})
	<-ready
	if g.StopWhenEmpty {
		<-ended
	}
	d.stop = sync.OnceFunc(func() { cancel(); <-ended })
	d.t.Cleanup(d.stop)
}

func (d *scene) pawl(db engine.DB, g *program) (*pawl.Pawl, error) {
	g.Retry = &outbox.RetryPolicy{MaxAttempts: 3, Delay: func(int) time.Duration { return 0 }}
	g.Logger = slog.New(slog.DiscardHandler)
	if g.queries {
		g.handler = func(ctx context.Context, _ *outbox.Message) error {
			for ctx.Err() == nil {
				_, _, _ = engine.Get(ctx, db, op.ClockNow{})
			}
			return nil
		}
	}
	if g.clockOff != 0 {
		db = dbtest.ClockOff(db, g.clockOff)
	}
	p, err := pawl.New(db, g.Options)
	if err == nil {
		for _, topic := range g.topics {
			p.Handle(topic, g.handler, outbox.HandlerOptions{Limit: g.limit})
		}
	}
	return p, err
}

// drained has a process handle a topic until nothing is due.
func (d *scene) drained(topic string, h outbox.Handler) {
	d.working(program{Options: pawl.Options{StopWhenEmpty: true}, topics: []string{topic}, handler: h})
}

func (d *scene) enqueued(topic, queue string, n int) {
	d.must(strings.Repeat("x\n", n), "enqueue", "--topic", topic, "--queue", queue)
}

// until waits until health says something.
func (d *scene) until(text string) {
	d.t.Helper()
	dbtest.Until(d.t, "health says "+text, func() bool { return strings.Contains(doors["health"](d, ""), text) })
}

// takesNoWrites has the database take none, or take them again.
func (d *scene) takesNoWrites(none bool) {
	flag, sqlite := strings.CutPrefix(d.flags[0], "--db=sqlite:")
	switch {
	case none && sqlite:
		d.flags[0] = "--db=file:" + flag + "?_pragma=query_only(1)"
	case none:
		d.flags[0] += "&default_transaction_read_only=on"
	default:
		d.flags[0] = strings.TrimSuffix(strings.TrimSuffix(d.flags[0], "&default_transaction_read_only=on"), "?_pragma=query_only(1)")
	}
}

func succeed(context.Context, *outbox.Message) error { return nil }
