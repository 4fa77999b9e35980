package ui

import (
	"context"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/timer"
)

// overview says in words whether all is well, and shows what waits and what was done lately.
func overview(v *visit) (*screen, error) {
	sc := &screen{Title: "Overview"}
	if v.s.source.fleet != nil && v.key == "" {
		h := v.s.source.fleet.State(access.Key{})
		sc.Blocks = append(sc.Blocks, block{Note: h.Summary})
	}
	sc.Blocks = append(sc.Blocks, v.each(func(ctx context.Context, s *store) ([]block, error) {
		h := v.redactReport(s.Health(ctx))
		b, err := inspect.ReadBacklog(ctx, s.db())
		if err != nil {
			return nil, err
		}
		lately, err := inspect.ReadActivity(ctx, s.db(), inspect.ActivityQuery{})
		if err != nil {
			return nil, err
		}
		return []block{
			{Heading: verdict(h), Findings: worst(h, s.key), Facts: v.amounts(s, &b)},
			{Heading: "The last hour", Chart: activityChart(&lately)},
			{Heading: "What waits", Table: v.backlogTable(s, &b)},
		}, nil
	})...)
	return sc, nil
}

// amounts are the figures that matter.
func (v *visit) amounts(s *store, b *inspect.Backlog) []fact {
	amount := func(n int64, path string, pairs ...string) cell {
		return link(grouped(n), v.hrefIn(s.key, path, pairs...))
	}
	in := func(state, path string, pairs ...string) cell {
		n, _ := inspect.Of(b.Messages, state)
		return amount(n, path, pairs...)
	}
	return facts(
		"Ready", in("ready", "messages", "status", "ready"), "Scheduled", in("scheduled", "messages", "status", "scheduled"),
		"Without a handler", in("unhandled", "topics"), "Retrying", in("retrying", "messages", "status", "retrying"),
		"In flight", in("in_flight", "messages", "status", "running"), "Paused", in("paused", "topics"), "Failed", in("failed", "failed"),
		"Timers due", amount(b.TimersDue, "timers"), "Timers are late by", b.TimersLate, "Timers scheduled", amount(b.TimersScheduled, "timers", "status", string(timer.Scheduled)),
		"Joins pending", amount(b.JoinsPending, "joins", "status", string(join.Pending)), "Workers", amount(b.Workers, "workers"),
	)
}

// activityChart draws how many messages came and went.
func activityChart(a *inspect.Activity) *chart {
	in, out := series{Class: "in", Name: "enqueued"}, series{Class: "out", Name: "done"}
	steps, unknown := a.Sum()
	for _, step := range steps {
		when := step.At.Format("15:04Z")
		in.Values, in.Titles = append(in.Values, step.Enqueued), append(in.Titles, plural(step.Enqueued, "message")+" enqueued from "+when)
		out.Values, out.Titles = append(out.Values, step.Done), append(out.Titles, plural(step.Done, "message")+" done from "+when)
	}
	label := "Messages, by the minute"
	if a.More {
		label += "; more wait than are counted"
	}
	c := bars(label, in, out)
	if unknown > 0 {
		c.Bars = append(c.Bars, bar{"plain", 0, chartHeight - 2, round(float64(unknown*chartWidth) / float64(len(steps))), 2, "not known: nobody counted"})
		c.Legend = append(c.Legend, legend{"plain", "not known"})
	}
	return c
}

// backlogTable is what waits, by queue and topic.
func (v *visit) backlogTable(s *store, b *inspect.Backlog) *table {
	t := &table{Head: []string{"State", "Queue", "Topic", "Messages", "Oldest"}, None: "Nothing waits."}
	for i := range b.Messages {
		a := &b.Messages[i]
		topic := link(a.Topic, v.hrefIn(s.key, "messages", "topic", a.Topic))
		if a.Topic == "" {
			topic = words("others")
		}
		t.Rows = append(t.Rows, []cell{state(a.State), link(a.Queue, v.hrefIn(s.key, "messages", "queue", a.Queue)), topic, counted(a.Count, a.More), age(a.Oldest)})
	}
	return t
}
