package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pause"
	"github.com/bravellian/pawl/timer"
	"github.com/bravellian/pawl/work"
)

// fixture is a pawl with its metrics, on a fresh database.
type fixture struct {
	*pawl.Pawl
	t       *testing.T
	db      dbtest.Database
	metrics *metrics.Collector
}

func open(t *testing.T, e dbtest.Engine, o pawl.Options, opts metrics.Options) *fixture {
	t.Helper()
	db := e.Open(t)
	return on(t, db, db.DB, o, opts)
}

func on(t *testing.T, db dbtest.Database, handle engine.DB, o pawl.Options, opts metrics.Options) *fixture {
	t.Helper()
	o.Outbox.Logger = slog.New(slog.DiscardHandler)
	p, err := pawl.New(handle, o)
	check(t, err)
	if opts.MinInterval == 0 {
		opts.MinInterval = time.Nanosecond
	}
	if opts.Timeout == 0 {
		opts.Timeout = time.Minute // the machine may be slow
	}
	m, err := metrics.New(p, opts)
	check(t, err)
	return &fixture{p, t, db, m}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// drain works until nothing is due.
func (f *fixture) drain() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	check(f.t, f.Run(ctx))
	check(f.t, ctx.Err())
}

func stopWhenEmpty() pawl.Options {
	return pawl.Options{Outbox: outbox.Options{StopWhenEmpty: true}}
}

func (f *fixture) enqueue(msgs ...outbox.Message) []outbox.MessageID {
	f.t.Helper()
	ids, err := f.Outbox.EnqueueBatch(f.t.Context(), msgs)
	check(f.t, err)
	return ids
}

func many(n int, m outbox.Message) []outbox.Message {
	all := make([]outbox.Message, n)
	for i := range all {
		all[i] = m
	}
	return all
}

func (f *fixture) gather() series { return gather(f.t, f.metrics) }

// series is what was exported: values by name and labels, as name{a="b",c="d"};
// of histograms how many were observed.
type series map[string]float64

func gather(t testing.TB, c prometheus.Collector) series {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	check(t, r.Register(c))
	families, err := r.Gather()
	check(t, err)
	all := series{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			all[f.GetName()+labels(m)] = value(m)
		}
	}
	return all
}

func labels(m *dto.Metric) string {
	var parts []string
	for _, l := range m.GetLabel() {
		parts = append(parts, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func value(m *dto.Metric) float64 {
	switch {
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	case m.GetHistogram() != nil:
		return float64(m.GetHistogram().GetSampleCount())
	}
	return m.GetGauge().GetValue()
}

// has insists on series and their values.
func (s series) has(t testing.TB, want series) {
	t.Helper()
	for name, v := range want {
		got, there := s[name]
		if !there {
			t.Errorf("%s is missing; there are\n%s", name, strings.Join(s.of(before(name, "{")), "\n"))
		} else if got != v {
			t.Errorf("%s is %v, want %v", name, got, v)
		}
	}
}

// hasNone insists on there being nothing of a name.
func (s series) hasNone(t testing.TB, name string) {
	t.Helper()
	if got := s.of(name); len(got) > 0 {
		t.Errorf("there should be no %s, there are\n%s", name, strings.Join(got, "\n"))
	}
}

// of returns what there is of a name.
func (s series) of(name string) []string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if before(k, "{") == name {
			all = append(all, fmt.Sprintf("  %s %v", k, s[k]))
		}
	}
	return all
}

func before(s, sep string) string {
	head, _, _ := strings.Cut(s, sep)
	return head
}

// Each outcome is counted under its queue and topic, and what ran is measured.
func TestOutcomes(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		o := stopWhenEmpty()
		o.Outbox.Retry = &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return 0 }}
		f := open(t, e, o, metrics.Options{})
		snoozed := false
		f.Handle("ok", outbox.HandlerFunc(func(context.Context, *outbox.Message) error { return nil }))
		f.Handle("bad", outbox.HandlerFunc(func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no")) }))
		f.Handle("snoozes", outbox.HandlerFunc(func(context.Context, *outbox.Message) error {
			if !snoozed {
				snoozed = true
				return outbox.Snooze(0)
			}
			return nil
		}))
		f.Handle("settles", outbox.HandlerFunc(func(ctx context.Context, m *outbox.Message) error {
			_, err := f.Outbox.Ack(ctx, m.Owner, m.WorkItemID)
			return errors.Join(err, work.ErrSettled)
		}))
		f.Inbox.Handle("in", func(context.Context, *inbox.Message) error { return nil })
		f.enqueue(append(many(3, outbox.Message{Topic: "ok"}), outbox.Message{Topic: "bad"}, outbox.Message{Topic: "snoozes"},
			outbox.Message{Topic: "settles"}, outbox.Message{Topic: "nobody"})...)
		_, err := f.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: "1"}, Topic: "in"})
		check(t, err)
		f.drain()
		got := f.gather()
		got.has(t, series{
			`pawl_messages_enqueued_total{queue="default",topic="ok"}`:               3,
			`pawl_messages_enqueued_total{queue="inbox",topic="in"}`:                 1,
			`pawl_attempts_total{outcome="acked",queue="default",topic="ok"}`:        3,
			`pawl_attempts_total{outcome="failed",queue="default",topic="ok"}`:       0,
			`pawl_attempts_total{outcome="failed",queue="default",topic="bad"}`:      1,
			`pawl_attempts_total{outcome="snoozed",queue="default",topic="snoozes"}`: 1,
			`pawl_attempts_total{outcome="acked",queue="default",topic="snoozes"}`:   1,
			`pawl_attempts_total{outcome="settled",queue="default",topic="settles"}`: 1,
			`pawl_attempts_total{outcome="acked",queue="inbox",topic="in"}`:          1,
			`pawl_messages_claimed_total{queue="inbox"}`:                             1,
			`pawl_handler_duration_seconds{topic="ok"}`:                              3,
			`pawl_queue_wait_seconds{topic="ok"}`:                                    3,
			`pawl_messages{queue="default",state="failed",topic="bad"}`:              1,
			`pawl_store_up`:                        1,
			`pawl_backlog_truncated{what="ready"}`: 0,
		})
		_ = got
	})
}

func TestSmoke(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, stopWhenEmpty(), metrics.Options{})
		problems, err := testutil.GatherAndLint(func() prometheus.Gatherer { r := prometheus.NewRegistry(); r.MustRegister(f.metrics); return r }())
		check(t, err)
		if len(problems) > 0 {
			t.Error(problems)
		}
		for k, v := range f.gather() {
			t.Log(k, v)
		}
		_, _, _, _, _ = job.Header, join.Pending, lease.Options{}, pause.Topic, timer.Timer{}
	})
}
