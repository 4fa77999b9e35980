package ui

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/outbox"
)

// topicsAndQueues lists the topics and queues, the most urgent first, and the limits.
func (v *visit) topicsAndQueues(_ context.Context, s *store, p *picture) ([]block, error) {
	named := func(kind admin.Kind) []*subject {
		return slices.DeleteFunc(p.subjects(kind, ""), func(one *subject) bool { return !strings.Contains(one.name, v.query.Get("name")) })
	}
	topics, queues := named(admin.Topic), named(admin.Queue)
	limits := block{Heading: "Limits", Table: v.paged(s, limitTable(s, p.limits), "limits")}
	limits.Actions = []action{setLimit(s, &admin.Limit{}, input{Name: "kind", Label: "Of", Value: "topic", Hint: "topic, queue or each"}, input{Name: "name", Label: "Name"})}
	return []block{
		{Heading: "Topics", Table: v.paged(s, pausable(s, v.topicTable(s, &p.activity, topics), topics), "topics")},
		{Heading: "Queues", Table: v.paged(s, pausable(s, v.queueTable(s, queues), queues), "queues")},
		limits,
	}, nil
}

// paged cuts a table to the page that the address asks for: its rows are in memory.
func (v *visit) paged(s *store, t *table, which string) *table {
	from, to, more := v.part(s, len(t.Rows), which)
	v.sorted(t)
	t.Rows, t.More = t.Rows[from:to], more
	return t
}

// part is which of n things the address asks for, and what leads to the next ones.
func (v *visit) part(s *store, n int, which string) (from, to int, more string) {
	if after := v.query.Get(which); after != "" && (v.key == s.key || s.key == "") {
		_, _ = fmt.Sscan(after, &from)
		from = min(max(from, 0), n)
	}
	if to = min(n, from+pageSize); to < n {
		more = v.here("store", s.key, which, number64(int64(to)))
	}
	return from, to, more
}

// subjectTable shows topics or queues below each other.
func subjectTable(head []string, all []*subject, row func(*subject) []cell) *table {
	t := tableOf("None is known.", head, all, func(one **subject) []cell { return row(*one) })
	t.Dense = true
	return t
}

// topicTable shows topics: whether they are well, how fast, what waits and for how long.
func (v *visit) topicTable(s *store, a *inspect.Activity, all []*subject) *table {
	minutes := known(a)
	return subjectTable([]string{"State", "Topic", "In /min", "Done /min", "Failed /min", "Waiting", "Oldest", "Wait p50", "p95", "Took p95", "Course", "Handled by"}, all, func(one *subject) []cell {
		return []cell{
			one.state, link(one.name, v.hrefIn(s.key, "topic", "name", one.name)), aMinute(one.done.enqueued, minutes), aMinute(one.done.Done, minutes), aMinute(one.done.Retried+one.done.Failed, minutes),
			counted(one.waiting(), one.more), age(one.oldest), within(&one.done.Waits, 0.5), within(&one.done.Waits, 0.95), within(&one.done.Takes, 0.95), {Spark: sparkOf(&one.done), order: float64(one.done.Done)}, words(one.by.Names()),
		}
	})
}

// queueTable shows queues: how busy the workers are that serve them, and what waits.
func (v *visit) queueTable(s *store, all []*subject) *table {
	return subjectTable([]string{"State", "Queue", "Busy", "Waiting", "Oldest", "Scheduled", "Retrying", "Failed", "Wait p95", "Course", "Served by"}, all, func(one *subject) []cell {
		return []cell{
			one.state, link(one.name, v.hrefIn(s.key, "queue", "name", one.name)), one.busy(), counted(one.waiting(), one.more), age(one.oldest),
			count(one.states["scheduled"]), count(one.states["retrying"]), counted(one.states["failed"], one.moreFailed), within(&one.done.Waits, 0.95), {Spark: sparkOf(&one.done), order: float64(one.done.Done)}, words(one.by.Names()),
		}
	})
}

// pausable adds what pauses or resumes each of a table's subjects, and by whom it is paused and why.
func pausable(s *store, t *table, all []*subject) *table {
	t.Columns = append(t.Columns, column{})
	for i, one := range all {
		act := cell{Actions: pauses(s, one)}
		if one.pause != nil {
			act.Text = strings.TrimSpace("by " + one.pause.Actor + " " + one.pause.Reason)
		}
		t.Rows[i] = append(t.Rows[i], act)
	}
	return t
}

// busy is how many of the places of the workers that serve a queue are taken.
func (one *subject) busy() cell {
	var slots, taken int64
	for i := range one.by {
		slots, taken = slots+one.by[i].Concurrency, taken+one.by[i].InFlight
	}
	if slots == 0 {
		return words("nobody serves it")
	}
	return cell{Meter: &meter{min(taken, slots), slots}, Text: grouped(taken) + " of " + grouped(slots), Number: true, order: float64(taken) / float64(slots)}
}

// known is for how many minutes of its time the activity is known.
func known(a *inspect.Activity) float64 {
	all, unknown := a.Sum()
	return float64(len(all)-unknown) * a.Step.Minutes()
}

// aMinute is a number of messages as a rate; unknown where nobody counted, and left empty where there were none.
func aMinute(n int64, minutes float64) cell {
	c := cell{Number: true, order: float64(n) / minutes}
	switch rate := c.order; {
	case minutes <= 0:
		return cell{Number: true, Text: "unknown"}
	case rate >= 10:
		return count(int64(rate + 0.5))
	case rate >= 0.1:
		c.Text = strconv.FormatFloat(rate, 'f', 1, 64)
	case rate > 0:
		c.Text = "< 0.1"
	}
	return c
}

// within is the bound that a share of durations is within; empty where none was measured.
func within(h *activity.Histogram, share float64) cell {
	switch bound, ok := h.Quantile(share); {
	case !ok:
		return cell{Number: true}
	case bound == 0:
		all := activity.Bounds()
		return cell{Number: true, Text: "> " + engine.Exact(all[len(all)-1]), order: math.Inf(1)}
	default:
		return cell{Number: true, Text: "≤ " + engine.Exact(bound), order: float64(bound)}
	}
}

// pauses is what pauses or resumes a topic or queue.
func pauses(s *store, one *subject) []action {
	can := map[bool]string{true: "pause", false: "resume"}[one.pause == nil]
	return offer(can, "store", s.key, "kind", string(one.kind), "name", one.name)
}

// subjectPage is about a topic in all queues, or a queue with all its topics.
func (v *visit) subjectPage(kind admin.Kind, title string) (*screen, error) {
	sc, err := pictured(func(v *visit, ctx context.Context, s *store, p *picture) ([]block, error) {
		one := p.subject(kind, v.query.Get("name"))
		if one == nil { // what somebody wrote into a link is not shown
			return []block{{Note: "Nothing is known of it."}}, nil
		}
		if v.key == s.key {
			title += " " + one.name
		}
		return v.subject(ctx, s, p, one)
	})(v)
	if err == nil {
		sc.Title = title
	}
	return sc, err
}

// subject shows a topic or queue.
func (v *visit) subject(ctx context.Context, s *store, p *picture, one *subject) ([]block, error) {
	filter := outbox.FailedFilter{Topic: one.name}
	if one.kind == admin.Queue {
		filter = outbox.FailedFilter{Queue: one.name}
	}
	groups, _, err := v.failures(ctx, s, &filter, one.states["retrying"] > 0)
	if err != nil {
		return nil, err
	}
	failed, retrying := sum(groups)
	limit := cmp.Or(one.limit, &admin.Limit{Kind: one.kind, Name: one.name})
	actions := slices.Concat(pauses(s, one), []action{setLimit(s, limit)}, failedActions(s, &filter, failed, retrying))
	if one.kind == admin.Topic {
		actions = append(actions, offer("retopic", "store", s.key, "from", one.name)...)
	}
	all := []block{
		{Findings: v.remedied(s, p, one.findings), Facts: v.standing(s, p, one), Actions: actions},
		{Heading: "Messages a minute", Timeline: v.timeline(p, &one.done, p.marks(one))},
	}
	if len(groups) > 0 {
		all = append(all, block{Heading: "What fails", Table: v.paged(s, v.failureTable(s, filter.Queue, groups), "groups")})
	}
	if one.kind == admin.Queue {
		all = append(all, block{Heading: "Its topics", Table: v.paged(s, v.topicTable(s, &p.activity, p.subjects(admin.Topic, one.name)), "topics")})
	}
	return append(all, block{Heading: "Who works on it", Table: v.paged(s, workerTable(one.by), "workers")}), nil
}

// standing are the figures of a topic or queue.
func (v *visit) standing(s *store, p *picture, one *subject) []fact {
	list := func(state, status string) cell {
		return link(grouped(one.states[state]), v.hrefIn(s.key, "messages", "status", status, string(one.kind), one.name))
	}
	minutes := known(&p.activity)
	paused := cell{}
	if one.pause != nil {
		paused = cell{State: "paused", Text: "by " + one.pause.Actor + " " + one.pause.Reason, Time: one.pause.Since}
	}
	return facts(
		"State", one.state, "Paused", paused, "Limit", limitWords(cmp.Or(one.limit, &admin.Limit{})),
		"Waiting", counted(one.waiting(), one.more), "Oldest", one.oldest, "Running", list("in_flight", "running"), "Scheduled", list("scheduled", "scheduled"), "Retrying", list("retrying", "retrying"), "Failed", list("failed", "failed"),
		"In /min", aMinute(one.done.enqueued, minutes), "Done /min", aMinute(one.done.Done, minutes), "Failed attempts /min", aMinute(one.done.Retried+one.done.Failed, minutes),
		"Wait p50", within(&one.done.Waits, 0.5), "Wait p95", within(&one.done.Waits, 0.95), "Took p50", within(&one.done.Takes, 0.5), "Took p95", within(&one.done.Takes, 0.95),
	)
}

// marks are what was changed that may explain a course: processes that began, pauses, limits.
func (p *picture) marks(one *subject) (all []mark) {
	versions := map[string]time.Time{}
	for i := range p.workers {
		w := &p.workers[i]
		if first, known := versions[w.Version]; !known || w.Started.Before(first) {
			versions[w.Version] = w.Started
		}
	}
	for version, at := range versions {
		all = append(all, mark{At: at, Text: "workers of version " + version + " started"})
	}
	about := func(kind admin.Kind, name string) bool { return one == nil || one.kind == kind && one.name == name }
	for i := range p.pauses {
		if h := &p.pauses[i]; about(h.Kind, h.Name) {
			all = append(all, mark{At: h.Since, Text: string(h.Kind) + " " + h.Name + " paused by " + h.Actor})
		}
	}
	for i := range p.limits {
		if l := &p.limits[i]; about(l.Kind, l.Name) {
			all = append(all, mark{At: l.Since, Text: string(l.Kind) + " " + l.Name + " limited by " + l.Actor})
		}
	}
	return all
}

// remedied are findings with the actions that help.
func (v *visit) remedied(s *store, p *picture, found []health.Finding) []finding {
	all := worst(health.Report{Findings: found}, s.key)
	for i := range all {
		f := &all[i]
		topic, _ := f.Facts.Get("topic").(string)
		switch {
		case f.Code == "paused" && len(p.pauses) > 0:
			for j := range p.pauses[:min(len(p.pauses), fewActions)] {
				h := &p.pauses[j]
				resume := offer("resume", "store", s.key, "kind", string(h.Kind), "name", h.Name)
				resume[0].Label += " " + h.Name
				f.Actions = append(f.Actions, resume...)
			}
		case f.Code == "failed":
			n, _ := f.Facts.Get("count").(int64)
			f.Href, f.Actions = v.hrefIn(s.key, "failed"), failedActions(s, &outbox.FailedFilter{}, n, 0)[:min(1, n)]
		case topic != "":
			f.Href = v.hrefIn(s.key, "topic", "name", topic)
		}
		for j := range p.limits {
			if l := &p.limits[j]; f.Code == "limited/"+l.Name {
				f.Href, f.Actions = v.limited(s, l), append(f.Actions, setLimit(s, l))
			}
		}
		f.Facts = nil // the page of problems has them: here they are between somebody and the button
	}
	return all
}

// limited is the page about what a limit holds for: of a pattern the list of what it may match.
func (v *visit) limited(s *store, l *admin.Limit) string {
	if l.Kind == admin.Topic || l.Kind == admin.Queue {
		return v.hrefIn(s.key, string(l.Kind), "name", l.Name)
	}
	return v.hrefIn(s.key, "topics", "name", strings.TrimRight(l.Name, "*"))
}

// setLimit limits a topic or queue, or changes its limit. What l does not name are inputs.
func setLimit(s *store, l *admin.Limit, subject ...input) action {
	a := action{Do: "limit", Label: "Set a limit", Fields: []string{"store", s.key, "kind", string(l.Kind), "name", l.Name}, Confirm: "It holds for all processes, from the next claim on."}
	values := [3]string{"", "", "1s"}
	if l.Concurrency > 0 {
		a.Label, values[0] = "Change the limit", number64(int64(l.Concurrency))
	}
	if l.Rate > 0 {
		a.Label, values[1], values[2] = "Change the limit", number64(int64(l.Rate)), l.Period.String()
	}
	if len(subject) > 0 {
		a.Fields = a.Fields[:2]
	}
	a.Inputs = append(subject, input{Name: "concurrency", Label: "At once", Type: "number", Value: values[0]}, input{Name: "rate", Label: "Begin", Type: "number", Value: values[1]}, input{Name: "period", Label: "In", Value: values[2]}, why())
	return a
}

func limitTable(s *store, limits []admin.Limit) *table {
	return tableOf("Nothing is limited.", []string{"Of", "Name", "Limit", "Claimed", "Waiting", "Oldest", "Since", "By", ""}, limits, func(l *admin.Limit) []cell {
		return []cell{
			words(string(l.Kind)), words(l.Name), words(limitWords(l)), count(l.Claimed), count(l.Waiting), age(l.Oldest), at(l.Since), words(strings.TrimSpace(l.Actor + " " + l.Reason)),
			{Actions: append([]action{setLimit(s, l)}, offer("unlimit", "store", s.key, "kind", string(l.Kind), "name", l.Name)...)},
		}
	})
}

func limitSubject(a *act) (string, error) {
	l := outbox.Limit{Concurrency: a.number("concurrency"), Rate: a.number("rate")}
	if l.Rate > 0 {
		l.Period = a.duration("period", required)
	}
	if a.err != nil {
		return "", a.err
	}
	return became(a.Admin.SetLimit(a, a.kind(), a.Get("name"), l, a.Get("reason")))(a.subject(), "limited")
}

func limitWords(l *admin.Limit) string {
	var parts []string
	if l.Concurrency > 0 {
		parts = append(parts, grouped(int64(l.Concurrency))+" at once")
	}
	if l.Rate > 0 {
		parts = append(parts, grouped(int64(l.Rate))+" in "+engine.Exact(l.Period))
	}
	return strings.Join(parts, ", ")
}
