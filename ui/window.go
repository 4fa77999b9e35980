package ui

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
)

// window is the time that a page is about: it stands in the address, so that who follows a link sees it, too.
type window struct {
	since time.Duration
	until time.Time // zero: now
}

// window reads the time of the address.
func (v *visit) window() (w window, err error) {
	if w.since, err = v.duration("since", time.Hour); err != nil {
		return w, err
	}
	if w.since < time.Minute || w.since > 30*24*time.Hour {
		return w, engine.Invalid("since", "not within a minute and 720h")
	}
	if text := v.query.Get("until"); text != "" {
		if w.until, err = time.Parse(time.RFC3339, text); err != nil {
			return w, engine.Invalid("until", "no time, such as 2026-03-01T08:00:00Z")
		}
	}
	return w, nil
}

// timeline draws what was done in a window, with links that narrow it down or move it.
func (v *visit) timeline(w *window, a *inspect.Activity, done *sums, marks []mark) *timeline {
	c := drawn(a, done, marks)
	for _, hours := range []int64{1, 6, 24, 7 * 24, 30 * 24} {
		name, since := plural(hours, "hour"), time.Duration(hours)*time.Hour
		if hours > 24 {
			name = grouped(hours/24) + " days"
		}
		c.Ranges = append(c.Ranges, choice{name, v.here("since", since.String(), "until", ""), w.until.IsZero() && since == w.since})
	}
	until := a.From.Add(a.Step * time.Duration(len(done.steps)))
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	c.Earlier = v.here("since", w.since.String(), "until", at(until.Add(-w.since)))
	if !w.until.IsZero() {
		c.Later = v.here("since", w.since.String(), "until", at(until.Add(w.since)))
		if until.Add(w.since).After(v.now) {
			c.Later = v.here("since", w.since.String(), "until", "")
		}
	}
	narrow := (w.since / narrower).Truncate(time.Minute)
	if narrow < minWindow {
		return c
	}
	for i := range c.Hits {
		c.Hits[i].Href = v.here("since", narrow.String(), "until", at(done.steps[i].At.Add(narrow/2).Truncate(time.Minute)))
	}
	return c
}

const (
	narrower  = 6 // times as short is the window that a click leads to
	minWindow = 10 * time.Minute
)
