package ui

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/inspect"
)

// topicsAndQueues lists the topics and queues, the most urgent first, and the limits.
func topicsAndQueues(v *visit) (*screen, error) {
	w, err := v.window()
	if err != nil {
		return nil, err
	}
	name := v.query.Get("name")
	sc := &screen{Title: "Topics and queues", Filter: v.filter(input{Name: "name", Label: "Name contains"})}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		p, err := v.picture(ctx, s, &w)
		if err != nil {
			return nil, err
		}
		named := func(kind admin.Kind) []*subject {
			return slices.DeleteFunc(p.subjects(kind, ""), func(one *subject) bool { return !strings.Contains(one.name, name) })
		}
		topics, queues := named(admin.Topic), named(admin.Queue)
		return []block{
			{Heading: "Topics", Table: v.paged(s, pausable(s, v.topicTable(s, &p.activity, topics), topics), "topics")},
			{Heading: "Queues", Table: v.paged(s, pausable(s, v.queueTable(s, queues), queues), "queues")},
			{Heading: "Limits", Table: v.paged(s, limitTable(s, p.limits), "limits"), Actions: []action{setLimit(s, &admin.Limit{}, input{Name: "kind", Label: "Of", Value: "topic", Hint: "topic, queue or each"}, input{Name: "name", Label: "Name"})}},
		}, nil
	})
	return sc, nil
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

// topicTable shows topics: whether they are well, how fast, what waits and for how long.
func (v *visit) topicTable(s *store, a *inspect.Activity, all []*subject) *table {
	t := &table{Head: []string{"State", "Topic", "In /min", "Done /min", "Failed /min", "Waiting", "Oldest", "Wait p50", "p95", "Took p95", "Course", "Handled by"}, None: "None is known.", Dense: true}
	minutes := known(a)
	for _, one := range all {
		t.Rows = append(t.Rows, []cell{
			one.state, link(one.name, v.hrefIn(s.key, "topic", "name", one.name)), aMinute(one.done.enqueued, minutes), aMinute(one.done.Done, minutes), aMinute(one.done.Retried+one.done.Failed, minutes),
			counted(one.waiting(), one.more), age(one.oldest), within(&one.done.Waits, 0.5), within(&one.done.Waits, 0.95), within(&one.done.Takes, 0.95), {Spark: sparkOf(&one.done), order: float64(one.done.Done)}, words(one.by.Names()),
		})
	}
	return t
}

// queueTable shows queues: how busy the workers are that serve them, and what waits.
func (v *visit) queueTable(s *store, all []*subject) *table {
	t := &table{Head: []string{"State", "Queue", "Busy", "Waiting", "Oldest", "Scheduled", "Retrying", "Failed", "Wait p95", "Course", "Served by"}, None: "None is known.", Dense: true}
	for _, one := range all {
		t.Rows = append(t.Rows, []cell{
			one.state, link(one.name, v.hrefIn(s.key, "queue", "name", one.name)), one.busy(), counted(one.waiting(), one.more), age(one.oldest),
			count(one.states["scheduled"]), count(one.states["retrying"]), counted(one.states["failed"], one.moreFailed), within(&one.done.Waits, 0.95), {Spark: sparkOf(&one.done), order: float64(one.done.Done)}, words(one.by.Names()),
		})
	}
	return t
}

// pausable adds what pauses or resumes each of a table's subjects, and by whom it is paused and why.
func pausable(s *store, t *table, all []*subject) *table {
	t.Head = append(t.Head, "")
	for i, one := range all {
		act := cell{Actions: []action{pauseActions(s, one)}}
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

// aMinute is a number of messages as a rate; empty where nobody counted.
func aMinute(n int64, minutes float64) cell {
	if minutes <= 0 {
		return cell{Number: true, Text: "unknown"}
	}
	return aSecond(float64(n) / minutes)
}

// within is the bound that a share of durations is within; empty where none was measured.
func within(h *activity.Histogram, share float64) cell {
	switch bound, ok := h.Quantile(share); {
	case !ok:
		return cell{Number: true}
	case bound == 0:
		all := activity.Bounds()
		return cell{Number: true, Text: "> " + short(all[len(all)-1]), order: math.Inf(1)}
	default:
		return cell{Number: true, Text: "≤ " + short(bound), order: float64(bound)}
	}
}

// short is a duration without the zeros at its end: 5m, 30s, 200ms.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// pauseActions pause or resume a topic or queue.
func pauseActions(s *store, one *subject) action {
	fields := []string{"store", s.key, "kind", string(one.kind), "name", one.name}
	if one.pause != nil {
		return action{Do: "resume", Label: "Resume", Fields: fields}
	}
	return action{Do: "pause", Label: "Pause", Fields: fields, Inputs: []input{why()}, Confirm: "No more of its messages begin, in all processes, until it is resumed."}
}

func pauseSubject(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Admin.Pause(ctx, admin.Kind(form.Get("kind")), form.Get("name"), form.Get("reason")))(form.Get("kind")+" "+form.Get("name"), "paused")
}

func resumeSubject(ctx context.Context, s *store, form url.Values) (string, error) {
	return became(s.Admin.Resume(ctx, admin.Kind(form.Get("kind")), form.Get("name")))(form.Get("kind")+" "+form.Get("name"), "resumed")
}
