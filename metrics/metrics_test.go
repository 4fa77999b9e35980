package metrics_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/outbox"
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
	o.Logger = slog.New(slog.DiscardHandler)
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
	ctx, cancel := context.WithTimeout(f.t.Context(), 3*time.Minute)
	defer cancel()
	check(f.t, f.Run(ctx))
	check(f.t, ctx.Err())
}

func stopWhenEmpty() pawl.Options {
	return pawl.Options{StopWhenEmpty: true}
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

// run works until stop.
func (f *fixture) run() (stop func()) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.t.Errorf("Run: %v", err)
		}
	})
	f.t.Cleanup(stop)
	return stop
}

// until waits until a series has at least a value.
func (f *fixture) until(name string, least float64) {
	f.t.Helper()
	dbtest.Until(f.t, fmt.Sprintf("%s is %v", name, least), func() bool { return f.gather()[name] >= least })
}

func (f *fixture) exec(query string, args ...any) {
	f.t.Helper()
	_, err := f.db.SQL.ExecContext(f.t.Context(), query, args...)
	check(f.t, err)
}

func nothing(context.Context, *outbox.Message) error { return nil }
