package ui

import (
	"context"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/timer"
)

// onOverview is how many topics and queues the overview has; a link leads to all.
const onOverview = 25

// overview says in words whether all is well, what is wrong and what helps, and shows the course of the
// last hour and which topics and queues it is about. Of a fleet it is the list of its stores.
func overview(v *visit) (*screen, error) {
	if v.s.source.fleet != nil && v.key == "" {
		return stores(v)
	}
	w, err := v.window()
	if err != nil {
		return nil, err
	}
	sc := &screen{Title: "Overview"}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		p, err := v.picture(ctx, s, &w)
		if err != nil {
			return nil, err
		}
		all := &sums{}
		for i := range p.activity.Topics {
			all.add(&p.activity.Topics[i])
		}
		found := v.remedied(s, p, p.health.Findings)
		more := len(found) - onVerdict
		if more > 0 {
			found = found[:onVerdict]
		}
		verdicts := block{Verdict: &verdictBox{Level: p.health.Level, Text: verdict(p.health)}, Findings: found, Facts: v.amounts(s, &p.backlog)}
		if more > 0 {
			verdicts.Verdict.More = link(plural(int64(more), "more finding"), v.hrefIn(s.key, "problems"))
		}
		topics, queues := p.subjects(admin.Topic, ""), p.subjects(admin.Queue, "")
		return []block{
			verdicts,
			{Heading: "Messages a minute", Timeline: v.timeline(&w, &p.activity, all, p.marks(nil))},
			{Heading: "Topics", Table: first(v.sorted(v.topicTable(s, &p.activity, topics)), v.hrefIn(s.key, "topics"))},
			{Heading: "Queues", Table: first(v.sorted(v.queueTable(s, queues)), v.hrefIn(s.key, "topics"))},
		}, nil
	})
	return sc, nil
}

// onVerdict is how many findings stand below the verdict.
const onVerdict = 5

// verdictBox says how it is.
type verdictBox struct {
	Level health.Level
	Text  string
	More  cell
}

// first cuts a table, and leads to all of it.
func first(t *table, all string) *table {
	if len(t.Rows) > onOverview {
		t.Rows, t.All, t.AllHref = t.Rows[:onOverview], "All "+grouped(int64(len(t.Rows))), all
	}
	return t
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
	some := func(n int64, path string, pairs ...string) cell { // what is shown if it is there
		if n == 0 {
			return cell{}
		}
		return amount(n, path, pairs...)
	}
	unhandled, _ := inspect.Of(b.Messages, "unhandled")
	paused, _ := inspect.Of(b.Messages, "paused")
	return facts(
		"Ready", in("ready", "messages", "status", "ready"), "Running", in("in_flight", "messages", "status", "running"), "Retrying", in("retrying", "messages", "status", "retrying"),
		"Scheduled", in("scheduled", "messages", "status", "scheduled"), "Failed", amount(b.Failed, "failed"), "Workers", amount(b.Workers, "workers"),
		"Without a handler", some(unhandled, "topics"), "Paused", some(paused, "topics"), "Timers due", some(b.TimersDue, "timers"), "Timers are late by", b.TimersLate, "Timers scheduled", some(b.TimersScheduled, "timers", "status", string(timer.Scheduled)),
		"Joins pending", some(b.JoinsPending, "joins", "status", string(join.Pending)),
	)
}
