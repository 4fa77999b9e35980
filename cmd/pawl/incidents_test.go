package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// incident is what goes wrong in the work of a database's users.
type incident struct {
	topic         string
	happens, over func(d *database)
	says          map[string]string // by door
	gone          string            // what health says no more once it is over
}

// doors are where somebody asks what is wrong, each from outside the processes that work.
var doors = map[string]func(d *database, topic string) string{
	"health": func(d *database, _ string) string { return d.run("", "health", "--waiting", "1ms").stdout },
	"doctor": func(d *database, _ string) string { return d.run("", "doctor").stdout },
	"explain": func(d *database, topic string) string {
		id, _, _ := strings.Cut(d.must("", "ls", "--topic", topic, "-o", "id"), "\n")
		return d.run("", "explain", id).stdout
	},
	"backlog": func(d *database, _ string) string { return strings.Join(strings.Fields(d.must("", "backlog")), " ") },
	"stats":   func(d *database, topic string) string { return d.run("", "stats", topic).stdout },
	"metrics": func(d *database, _ string) (text string) {
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
	"api": func(d *database, _ string) (text string) {
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

func (d *database) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// working is a process that handles a topic, which ends when nothing is due, or when stop is called.
func (d *database) working(topic string, whenEmpty bool, h outbox.HandlerFunc) (stop func()) {
	ctx, cancel := context.WithCancel(d.t.Context())
	ended, ready := make(chan struct{}), make(chan struct{})
	go d.opened(func(s *store) {
		defer close(ended)
		once := outbox.RetryPolicy{MaxAttempts: 3, Delay: func(int) time.Duration { return 0 }}
		p, err := pawl.New(s.DB, pawl.Options{StopWhenEmpty: whenEmpty, Retry: &once, Logger: slog.New(slog.DiscardHandler)})
		close(ready)
		if err == nil {
			p.Handle(topic, h)
			err = p.Run(ctx)
		}
		if err != nil {
			d.t.Error(err)
		}
	})
	<-ready
	if whenEmpty {
		<-ended
	}
	return func() { cancel(); <-ended }
}

func (d *database) enqueued(topic, queue string, n int) {
	d.must(strings.Repeat("x\n", n), "enqueue", "--topic", topic, "--queue", queue)
}

func succeed(context.Context, *outbox.Message) error { return nil }

// incidents have no worker of their own between what happens and what ends it, but for the one of a
// topic that was renamed.
func incidents() map[string]incident {
	const timeout = "dial tcp 10.0.0.9:25: i/o timeout"
	stop := func() {}
	return map[string]incident{
		"a handler is down": {
			topic: "mail",
			happens: func(d *database) {
				d.enqueued("mail", "default", 8)
				d.working("mail", true, func(context.Context, *outbox.Message) error { return errors.New(timeout) })
			},
			over: func(d *database) {
				d.enqueued("mail", "default", 40)
				d.working("mail", true, succeed)
			},
			says: map[string]string{
				"health": "[-]failing/mail problem: mail: 100 % of 24 attempts failed since ", "doctor": "mail: 100 % of 24 attempts failed", "explain": "It failed for good",
				"backlog": "default mail failed 8", "stats": "24 × dial tcp #: i/o timeout", "metrics": `pawl_recent_attempts{outcome="failed",queue="default",topic="mail"} 24`, "api": `"failing/mail"`,
			},
			gone: "failing/mail",
		},
		"one tenant's payload poisons": {
			topic: "import",
			happens: func(d *database) {
				d.enqueued("import", "default", 60)
				d.working("import", true, func(_ context.Context, m *outbox.Message) error {
					if m.Position%4 == 0 {
						return errors.New("tenant 17: unexpected end of JSON input")
					}
					return nil
				})
			},
			over: func(d *database) { d.must("", "discard", "--all") },
			says: map[string]string{
				"health": "[!]failed warning: 15 messages failed for good, 15 of them within an hour: import (tenant #: unexpected end of JSON input)", "doctor": "15 messages failed for good",
				"explain": "", "backlog": "default import failed 15", "stats": "45 × tenant #: unexpected end of JSON input",
				"metrics": `pawl_messages{queue="default",state="failed",topic="import"} 15`, "api": "15 messages failed for good",
			},
			gone: "messages failed for good",
		},
		"a topic was renamed": {
			topic: "old.name",
			happens: func(d *database) {
				d.enqueued("old.name", "default", 5)
				stop = d.working("new.name", false, succeed)
				dbtest.Until(d.t, "workers put the messages back", func() bool { return strings.Contains(doors["health"](d, ""), "unhandled/old.name") })
			},
			over: func(d *database) {
				d.must("", "retopic", "old.name", "new.name")
				stop()
			},
			says: map[string]string{
				"health": "[!]unhandled/old.name warning: 5 messages of old.name, the oldest for ", "doctor": "5 messages of old.name, the oldest for ",
				"explain": `No live worker of queue "default" has a handler for topic "old.name"`, "backlog": "old.name", "stats": "old.name", "metrics": `topic="old.name"`, "api": `"unhandled/old.name"`,
			},
			gone: "old.name",
		},
		"a queue is not served": {
			topic: "t",
			happens: func(d *database) {
				d.enqueued("t", "parcels", 5)
				d.working("t", true, succeed)
			},
			over: func(d *database) {
				d.must("", "retopic", "t", "t", "--queue", "default")
				d.working("t", true, succeed)
			},
			says: map[string]string{
				"health": "[-]waiting/queue/parcels problem: queue parcels: 5 messages are due, the oldest for ", "explain": `No live worker serves queue "parcels"`, "backlog": "parcels t ready 5",
				"metrics": `pawl_messages{queue="parcels",state="ready",topic="t"} 5`,
			},
			gone: "parcels",
		},
	}
}

// D-576: what goes wrong in users' work is reported by every door, from outside the processes, and no
// more once it is over.
func TestIncidents(t *testing.T) {
	for name, i := range incidents() {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, d *database) {
				d.must("", "migrate")
				i.happens(d)
				for door, text := range i.says {
					if got := doors[door](d, i.topic); !strings.Contains(got, text) {
						t.Errorf("%s does not say %q:\n%.3000s", door, text, got)
					}
				}
				i.over(d)
				if got := doors["health"](d, ""); strings.Contains(got, i.gone) {
					t.Errorf("after its end:\n%s", got)
				}
			})
		})
	}
}
