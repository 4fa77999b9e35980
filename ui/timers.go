package ui

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// timersDrawn is how many timers are read for the next day's histogram.
const timersDrawn = 1000

// timers lists timers, and draws those of the next day.
func timers(v *visit) (*screen, error) {
	sc := &screen{Title: "Timers", Filter: v.filter(
		input{Name: "status", Label: "State", Options: []string{string(timer.Scheduled), string(timer.Claimed), string(timer.Fired), string(timer.Failed), string(timer.Cancelled)}},
		input{Name: "topic", Label: "Topic"}, input{Name: "key", Label: "Key"}, input{Name: "id", Label: "Timer id"})}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		p, err := v.listTimers(ctx, s)
		if err != nil {
			return nil, err
		}
		day, err := engine.Collect(s.Timers.List(ctx, timer.ListOptions{Status: timer.Scheduled}), timersDrawn)
		return []block{{Chart: nextDay(day, v.now), Table: lead(v, s, v.timerTable(s, p.rows), p)}}, err
	})
	return sc, nil
}

// listTimers reads the page that the address asks for, as the visitor may read it.
func (v *visit) listTimers(ctx context.Context, s *store) (pageOf[timer.Info], error) {
	p, err := v.readTimers(ctx, s)
	for i := range p.rows {
		v.redactTimer(&p.rows[i])
	}
	return p, err
}

// readTimers reads the page that the address asks for, or the timer of an id or a key.
func (v *visit) readTimers(ctx context.Context, s *store) (p pageOf[timer.Info], err error) {
	q := v.query
	if q.Get("id") != "" {
		id, err := parsed(outbox.ParseMessageID, q.Get("id"))
		if err != nil {
			return p, err
		}
		return onePage(s.Timers.Get(ctx, id))
	}
	if q.Get("key") != "" {
		return onePage(s.Timers.Find(ctx, q.Get("key")))
	}
	var after *timer.Info
	if q.Get("after") != "" {
		id, err := parsed(outbox.ParseMessageID, q.Get("after"))
		if err != nil {
			return p, err
		}
		if after, err = s.Timers.Get(ctx, id); err != nil {
			return p, err
		}
	}
	topic := q.Get("topic")
	match := func(t *timer.Info) bool { return topic == "" || t.Topic == topic }
	return sift(s.Timers.List(ctx, timer.ListOptions{Status: timer.Status(q.Get("status")), After: after}), match, func(t *timer.Info) string { return t.ID.String() })
}

// nextDay counts timers by the hour in which they are due.
func nextDay(list []timer.Info, now time.Time) *chart {
	hours := make([]bar, 24)
	for i := range list {
		if hour := int(max(0, list[i].NextAttemptAt.Sub(now)) / time.Hour); hour < len(hours) {
			hours[hour].N++
		}
	}
	for i := range hours {
		h := &hours[i]
		h.Class, h.Title = "in", plural(h.N, "timer")+" due from "+now.Add(time.Duration(i)*time.Hour).UTC().Format("15:04Z")
		if i%6 == 0 {
			h.Mark = strconv.Itoa(i) + " h"
		}
	}
	label := "All that are due in the next day, by the hour"
	if len(list) == timersDrawn {
		label += ", of the next " + grouped(timersDrawn)
	}
	return bars(label, hours, legend{"in", "timers"})
}

func (v *visit) timerTable(s *store, list []timer.Info) *table {
	t := tableOf("No timers.", []string{"State", "Timer", "Key", "Topic", "Due", "Ended", "Last error", ""}, list, func(one *timer.Info) []cell {
		id := one.ID.String()
		name := mono(id)
		if one.Status == timer.Fired {
			name = cell{Text: id, Href: v.hrefIn(s.key, "messages/"+id), Mono: true}
		}
		first, actions := state(string(one.Status)), []action(nil)
		if one.Status == timer.Scheduled {
			first, actions = pick(first, "id", id), timerActions("store", s.key, "id", id)
		}
		return []cell{first, name, words(one.Key), words(one.Topic), at(one.NextAttemptAt), at(one.EndedAt), words(firstLine(one.LastError)), {Actions: actions}}
	})
	return t.selectable(s, timerActions()...)
}

// timerActions are what can be done to a timer that is scheduled.
func timerActions(fields ...string) []action {
	return []action{
		{Do: "reschedule-timer", Label: "Change due time", Fields: fields, Inputs: []input{dueField()}, Confirm: "It fires then."},
		{Do: "cancel-timer", Label: "Cancel", Fields: fields, Inputs: []input{why()}, Confirm: "It does not fire.", Danger: true},
	}
}

func cancelTimer(ctx context.Context, s *store, id outbox.MessageID, _ url.Values) (string, error) {
	return became(s.Timers.Cancel(ctx, id))("timer", "cancelled")
}

func rescheduleTimer(ctx context.Context, s *store, id outbox.MessageID, form url.Values) (string, error) {
	due, err := dueIn(form.Get("in"))
	if err != nil {
		return "", err
	}
	return became(s.Timers.Reschedule(ctx, id, due))("timer", "rescheduled")
}
