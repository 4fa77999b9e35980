package browsertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/ui"
)

// incident is a world of its own in which one thing is wrong, as health says by a code: topic has n messages.
func incident(t *testing.T, topic string, n int, code string, before func(*world)) (*world, *tab) {
	t.Helper()
	t.Parallel()
	w := newWorld(t)
	var err error
	w.Pawl, err = pawl.New(dbtest.OpenSQLite(t).DB, options())
	w.check(err)
	w.source = ui.Of(w.Pawl)
	before(w)
	for range n {
		_, err := w.Outbox.Enqueue(w.ctx(), outbox.Message{Topic: topic})
		w.check(err)
	}
	w.run(w.Pawl)
	dbtest.Until(t, "health finds "+code, func() bool {
		for _, f := range w.Health(w.ctx()).Findings {
			if f.Code == code {
				return true
			}
		}
		return false
	})
	b := open(t, w.serve(ui.Options{Authorize: olga}))
	b.visit("")
	b.click(`[...document.querySelectorAll(".findings a")].find(e => e.innerText === ` + quoted(code) + `)`)
	b.shows("h1", "Topic "+topic)
	return w, b
}

// cure opens an act and does it: two clicks, with what is written between them.
func (b *tab) cure(act string, fields map[string]string, did string) {
	b.t.Helper()
	b.click(labelled("document", "summary", act))
	form := `[...document.querySelectorAll("details[open] form")].find(e => e.innerText.includes(` + quoted(act) + `))`
	for name, text := range fields {
		value[int](b, form+`.querySelector("[name=`+name+`]").select(), 0`)
		b.write(text)
	}
	b.click(labelled(form, "button", act))
	b.shows(".did", did)
}

// all waits until all messages of a topic are in a state.
func (w *world) all(topic string, status outbox.Status, n int) {
	w.t.Helper()
	dbtest.Until(w.t, topic+" is "+string(status), func() bool {
		found := 0
		for m, err := range w.Outbox.List(w.ctx(), outbox.ListOptions{Topic: topic}) {
			if w.check(err); m.Status == status {
				found++
			}
		}
		return found == n
	})
}

// D-658: a handler is down. The overview says of which topic, a click leads to why, and once it is up two clicks make
// all of it go again.
func TestIncidentHandlerDown(t *testing.T) {
	w, b := incident(t, "invoice", 12, "failing/invoice", func(w *world) {
		w.Handle("invoice", func(context.Context, *outbox.Message) error {
			if w.repaired.Load() {
				return nil
			}
			return outbox.Permanent(errors.New("connect: connection refused"))
		})
	})
	b.shows("#live", "connection refused")
	w.repaired.Store(true)
	b.cure("Redrive", nil, "12 messages redriven")
	w.all("invoice", outbox.Done, 12)
}

// D-658: a topic was renamed, and what came before waits for a handler that nobody has: it gets the new name.
func TestIncidentTopicRenamed(t *testing.T) {
	w, b := incident(t, "order.v1", 3, "unhandled/order.v1", func(w *world) {
		w.Handle("order.v2", func(context.Context, *outbox.Message) error { return nil })
	})
	b.shows("#live", "no live worker has a handler")
	b.cure("Move to another topic", map[string]string{"topic": "order.v2"}, "3 messages moved")
	w.all("order.v2", outbox.Done, 3)
}

// D-658: a limit is too low: the page of its topic says what waits for it, and raises it.
func TestIncidentLimitTooLow(t *testing.T) {
	w, b := incident(t, "export", 4, "limited/export", func(w *world) {
		w.Handle("export", func(ctx context.Context, _ *outbox.Message) error {
			select {
			case <-w.release:
			case <-ctx.Done():
			}
			return nil
		})
		_, err := w.Admin.SetLimit(w.ctx(), admin.Topic, "export", outbox.Limit{Concurrency: 1}, "careful")
		w.check(err)
	})
	b.shows("#live", "1 at once")
	w.all("export", outbox.InProgress, 1)
	b.cure("Change the limit", map[string]string{"concurrency": "4"}, "topic export limited")
	w.all("export", outbox.InProgress, 4)
	if found, err := w.Admin.Limits(w.ctx()); err != nil || len(found) != 1 || found[0].Actor != "olga" || strings.Contains(found[0].Reason, "careful") {
		t.Errorf("%+v, %v", found, err)
	}
}
