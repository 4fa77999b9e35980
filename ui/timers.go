package ui

import (
	"context"
	"net/url"
	"time"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// timersDrawn is how many timers are read for the next day's histogram.
const timersDrawn = 1000

// timers lists timers, and draws those of the next day.
func timers(v *visit) (*screen, error) {
	q := v.query
	sc := &screen{Title: "Timers", Filter: &filter{Fields: []field{
		{Name: "status", Label: "State", Value: q.Get("status"), Options: []string{string(timer.Scheduled), string(timer.Claimed), string(timer.Fired), string(timer.Failed), string(timer.Cancelled)}},
		{Name: "topic", Label: "Topic", Value: q.Get("topic")},
		{Name: "key", Label: "Key", Value: q.Get("key")},
		{Name: "id", Label: "Timer id", Value: q.Get("id")},
	}, Keep: []string{"store", v.key}}}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, err := v.listTimers(ctx, s)
		if err != nil {
			return nil, err
		}
		day, err := s.Timers.List(ctx, timer.ListOptions{Status: timer.Scheduled, Topic: q.Get("topic"), Limit: timersDrawn})
		if err != nil {
			return nil, err
		}
		return []block{{Chart: nextDay(day, v.now), Table: v.timerTable(s, list)}}, nil
	})
	return sc, nil
}

// listTimers reads the page that the address asks for, or the timer of an id or a key.
func (v *visit) listTimers(ctx context.Context, s *store) ([]timer.Info, error) {
	q := v.query
	opts := timer.ListOptions{Status: timer.Status(q.Get("status")), Topic: q.Get("topic"), Limit: pageSize}
	if after := q.Get("after"); after != "" {
		id, err := parsed(outbox.ParseMessageID)(after)
		if err != nil {
			return nil, err
		}
		if opts.After, err = s.Timers.Get(ctx, id); err != nil {
			return nil, err
		}
	}
	var one *timer.Info
	var err error
	switch {
	case q.Get("id") != "":
		id, invalid := parsed(outbox.ParseMessageID)(q.Get("id"))
		if invalid != nil {
			return nil, invalid
		}
		one, err = s.Timers.Get(ctx, id)
	case q.Get("key") != "":
		one, err = s.Timers.Find(ctx, q.Get("key"))
	default:
		return s.Timers.List(ctx, opts)
	}
	if statusOf(err) == 404 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []timer.Info{*one}, nil
}

// nextDay counts timers by the hour in which they are due.
func nextDay(list []timer.Info, now time.Time) *chart {
	s := series{Class: "in", Name: "timers", Values: make([]int64, 24), Titles: make([]string, 24)}
	for i := range list {
		if hour := int(max(0, list[i].NextAttemptAt.Sub(now)) / time.Hour); hour < 24 {
			s.Values[hour]++
		}
	}
	for hour := range s.Titles {
		s.Titles[hour] = plural(s.Values[hour], "timer") + " due from " + now.Add(time.Duration(hour)*time.Hour).UTC().Format("15:04Z")
	}
	label := "Due in the next day, by the hour"
	if len(list) == timersDrawn {
		label += ", of the next " + grouped(timersDrawn)
	}
	return bars(label, s)
}

func (v *visit) timerTable(s *store, list []timer.Info) *table {
	t := &table{Head: []string{"State", "Timer", "Key", "Topic", "Due", "Ended", "Last error", ""}, None: "No timers."}
	for i := range list {
		one := &list[i]
		id := one.ID.String()
		name := mono(id)
		if one.Status == timer.Fired {
			name = cell{Text: id, Href: v.hrefIn(s.key, "messages/"+id), Mono: true}
		}
		var actions []action
		if one.Status == timer.Scheduled {
			fields := []string{"store", s.key, "id", id}
			actions = []action{
				{Do: "reschedule-timer", Label: "Change due time", Fields: fields, Inputs: []input{{Name: "in", Label: "Due in", Value: "10m", Hint: "90s, 10m, 24h"}}, Confirm: "It fires then."},
				{Do: "cancel-timer", Label: "Cancel", Fields: fields, Inputs: []input{why()}, Confirm: "It does not fire.", Danger: true},
			}
		}
		t.Rows = append(t.Rows, []cell{state(string(one.Status)), name, words(one.Key), words(one.Topic), at(one.NextAttemptAt), at(one.EndedAt), words(firstLine(one.LastError)), {Actions: actions}})
	}
	if len(list) == pageSize {
		t.More = v.here("store", s.key, "after", list[len(list)-1].ID.String())
	}
	return t
}

func cancelTimer(ctx context.Context, s *store, form url.Values) (string, error) {
	id, err := parsed(outbox.ParseMessageID)(form.Get("id"))
	if err != nil {
		return "", err
	}
	return became(s.Timers.Cancel(ctx, id))("timer", "cancelled")
}

func rescheduleTimer(ctx context.Context, s *store, form url.Values) (string, error) {
	id, err := parsed(outbox.ParseMessageID)(form.Get("id"))
	if err != nil {
		return "", err
	}
	due, err := dueIn(form.Get("in"))
	if err != nil {
		return "", err
	}
	return became(s.Timers.Reschedule(ctx, id, due))("timer", "rescheduled")
}
