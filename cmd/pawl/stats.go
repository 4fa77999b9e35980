package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
)

// statsCmd is "pawl stats".
type statsCmd struct {
	outputFlag
	Topic string `arg:"" optional:"" help:"Only this topic, with its errors."`
	Queue string `placeholder:"NAME" help:"Only this queue."`
	Since ago    `default:"1h" placeholder:"WHEN" help:"Since a time (2026-11-22T10:00:00Z), or within a duration: a minute to 30d. Default: ${default}."`
}

// Help is printed by --help.
func (*statsCmd) Help() string {
	return `Workers count what they do by the minute, and write it every ten seconds; programs that
claim themselves count with what they settle, without WAIT and TOOK. ENQUEUED are
messages that were enqueued in the time; DONE those that were handled; RETRIED attempts
that failed and are repeated; FAILED messages that failed for good; EXPIRED those that
ended without an attempt. WAIT is how long 95 % of the first attempts had to wait since
their messages were due, TOOK how long 95 % of the attempts ran: at most so long. The chart
is of DONE; a dot is a time in which nobody counted.

Minutes are kept for a day and hours for 30 days. Of more than six hours the chart shows hours.`
}

// statsJSON is what workers did with a topic as JSON. The buckets of waits and takes end at bounds, in
// seconds.
type statsJSON struct {
	Store string `json:"store,omitempty"`
	inspect.TopicActivity
	More      bool      `json:"more,omitempty"` // of enqueued
	From      time.Time `json:"from"`
	KnownFrom time.Time `json:"known_from,omitzero"`
	Bounds    []float64 `json:"bounds"`
}

// Run prints what workers did.
func (c *statsCmd) Run(ctx context.Context, a *app, g *options) error {
	if c.Since.age < time.Minute || c.Since.age > 30*24*time.Hour {
		return usage("--since: not a minute to 30 days ago")
	}
	return c.listing().listStores(ctx, a, g, c.outputFlag, func(s *store, key string) (all []statsJSON, err error) {
		read, err := inspect.ReadActivity(ctx, s, inspect.ActivityQuery{Since: c.Since.age, Queue: c.Queue, Topic: c.Topic})
		for _, t := range read.Topics {
			all = append(all, statsJSON{Store: key, TopicActivity: t, More: read.More, From: read.From, KnownFrom: read.Known, Bounds: secondsOf(activity.Bounds())})
		}
		return all, err
	})
}

func secondsOf(all []time.Duration) (seconds []float64) {
	for _, d := range all {
		seconds = append(seconds, d.Seconds())
	}
	return seconds
}

func (c *statsCmd) listing() *listing[statsJSON] {
	l := &listing[statsJSON]{
		none: "no worker counted anything",
		id:   func(m *statsJSON) string { return m.Queue + " " + m.Topic },
		columns: []column[statsJSON]{
			{head: "STORE", cell: func(m *statsJSON) string { return m.Store }, optional: true},
			{head: "QUEUE", cell: func(m *statsJSON) string { return m.Queue }},
			{head: "TOPIC", cell: func(m *statsJSON) string { return cmp.Or(m.Topic, "(others)") }},
			{head: "ENQUEUED", cell: (*statsJSON).enqueued},
			{head: "DONE", cell: func(m *statsJSON) string { return number(m.Done) }},
			{head: "RETRIED", cell: func(m *statsJSON) string { return number(m.Retried) }},
			{head: "FAILED", cell: func(m *statsJSON) string { return number(m.Failed) }},
			{head: "EXPIRED", cell: func(m *statsJSON) string { return number(m.Expired) }},
			{head: "WAIT", cell: func(m *statsJSON) string { return within(&m.Waits) }},
			{head: "TOOK", cell: func(m *statsJSON) string { return within(&m.Takes) }},
			{head: "CHART", cell: (*statsJSON).chart},
		},
	}
	if c.Topic != "" {
		l.columns = append(l.columns, column[statsJSON]{head: "ERRORS", cell: (*statsJSON).errors})
	}
	return l
}

// enqueued is how many messages were enqueued, with a + where there may be more.
func (m *statsJSON) enqueued() string {
	if m.More {
		return number(m.Enqueued) + "+"
	}
	return number(m.Enqueued)
}

// within is the bound that 95 % are within; empty where none was measured.
func within(h *activity.Histogram) string {
	switch bound, ok := h.Quantile(0.95); {
	case !ok:
		return ""
	case bound == 0:
		all := activity.Bounds()
		return ">" + engine.Exact(all[len(all)-1])
	default:
		return engine.Exact(bound)
	}
}

// chartWidth is how many characters a chart has at most.
const chartWidth = 30

// chart draws how many messages were done in the steps, relative to the most.
func (m *statsJSON) chart() string {
	per := (len(m.Steps) + chartWidth - 1) / chartWidth
	var bars []int64
	var most int64
	for steps := range slices.Chunk(m.Steps, max(per, 1)) {
		sum := int64(-1) // not known
		for i := range steps {
			if end := steps[i].At.Add(m.step()); !m.KnownFrom.IsZero() && end.After(m.KnownFrom) {
				sum = max(sum, 0) + steps[i].Done
			}
		}
		bars, most = append(bars, sum), max(most, sum)
	}
	levels := []rune(" ▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, n := range bars {
		switch {
		case n < 0:
			b.WriteRune('·')
		case n == 0:
			b.WriteRune(levels[0])
		default:
			b.WriteRune(levels[(n*int64(len(levels)-1)+most-1)/most])
		}
	}
	return b.String()
}

func (m *statsJSON) step() time.Duration {
	if len(m.Steps) < 2 {
		return time.Minute
	}
	return m.Steps[1].At.Sub(m.Steps[0].At)
}

// errors lists why attempts failed, the commonest first.
func (m *statsJSON) errors() string {
	all := m.CommonErrors()
	for i, print := range all {
		all[i] = fmt.Sprintf("%d × %s", m.Errors[print], print)
	}
	return strings.Join(all, "; ")
}
