package ui

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/timer"
)

// overview says in words whether all is well, and shows what waits and what was done lately.
func overview(v *visit) (*screen, error) {
	sc := &screen{Title: "Overview"}
	if v.s.source.fleet != nil && v.key == "" {
		h := v.s.source.fleet.Health()
		sc.Blocks = append(sc.Blocks, block{Note: h.Summary})
	}
	sc.Blocks = append(sc.Blocks, v.each(func(ctx context.Context, s *store) ([]block, error) {
		h := s.Health(ctx)
		b, err := inspect.ReadBacklog(ctx, s.db())
		if err != nil {
			return nil, err
		}
		flow, err := inspect.ReadThroughput(ctx, s.db(), time.Hour)
		if err != nil {
			return nil, err
		}
		return []block{
			{Heading: verdict(h), Findings: worst(h, s.key), Facts: v.amounts(s, &b)},
			{Heading: "The last hour", Chart: flowChart(&flow)},
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

// flowChart draws how many messages came and went.
func flowChart(f *inspect.Throughput) *chart {
	in, out := series{Class: "in", Name: "enqueued"}, series{Class: "out", Name: "done"}
	for _, step := range f.Steps {
		when := step.At.UTC().Format("15:04Z")
		in.Values, in.Titles = append(in.Values, step.In), append(in.Titles, plural(step.In, "message")+" enqueued from "+when)
		out.Values, out.Titles = append(out.Values, step.Done), append(out.Titles, plural(step.Done, "message")+" done from "+when)
	}
	label := "Messages, by the minute"
	if from := laterOf(f.InFrom, f.DoneFrom); !from.IsZero() {
		label += "; before " + from.UTC().Format("15:04:05Z") + " there were more than are counted"
	}
	return bars(label, in, out)
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
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
