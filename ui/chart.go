package ui

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

const (
	lineWidth   = 600
	lineHeight  = 120
	ticks       = 4
	sparkSteps  = 30
	sparkWidth  = 3
	sparkHeight = 20
	narrower    = 6 // times as short is the window that a click leads to
	minWindow   = 10 * time.Minute
)

// chart is bars side by side, drawn by the server: a bar is one wide, and as high as its value. The page stretches them.
type chart struct {
	Label  string
	Most   float64
	Bars   []bar
	Legend []legend
}

// bar is a value of a chart, with a mark below it that says what its color does.
type bar struct {
	Class, Title, Mark string
	N                  float64
}

type legend struct{ Class, Text string }

func bars(label string, all []bar, legends ...legend) *chart {
	most := 1.0
	for _, b := range all {
		most = max(most, b.N)
	}
	for i := range all {
		if b := &all[i]; b.N > 0 { // so that it can be seen
			b.N = max(b.N, most/80)
		}
	}
	return &chart{label, most, all, legends}
}

// look is the color and the sign of what is in a state: a step, a message or a run.
func look(state string) (class, sign string) {
	switch state {
	case string(join.Completed), string(outbox.Done), string(job.Succeeded):
		return "out", "✓"
	case string(join.Failed), string(outbox.Discarded), string(outbox.Expired), string(job.Missed), "ending":
		return "bad", "■"
	}
	return "plain", "○"
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// timeline is how many messages a minute came, were done and failed, over time.
type timeline struct {
	Label          string
	Most           string  // what the top of the chart is
	Unknown        float64 // up to where nobody counted
	In, Done, Bad  string  // paths
	Total          [3]string
	Ticks          []time.Time
	Hits           []hit
	Marks          []mark
	Ranges         []choice
	Earlier, Later string
}

// hit is the part of a chart that is about a step.
type hit struct {
	X, Width    float64
	Title, Href string
}

// choice is one of several links.
type choice struct {
	Name, Href string
	Current    bool
}

// mark is something that was changed, in a chart.
type mark struct {
	At   time.Time
	Text string
	X    float64
}

// drawn draws what was done, without links.
func drawn(a *inspect.Activity, done *sums, marks []mark) *timeline {
	n := len(done.steps)
	if n == 0 { // nobody counted anything
		done.steps = []inspect.ActivityStep{{At: a.From}}
		n = 1
	}
	minutes, width := a.Step.Minutes(), lineWidth/float64(n)
	c := &timeline{Label: "Messages a minute", Unknown: lineWidth}
	if !a.Known.IsZero() {
		c.Unknown = min(lineWidth, max(0, float64(a.Known.Sub(a.From))/float64(a.Step)*width))
	}
	var most float64
	for i := range done.steps {
		s := &done.steps[i]
		most = max(most, float64(s.Enqueued)/minutes, float64(s.Done+s.Retried+s.Failed)/minutes)
	}
	most = nice(most)
	c.Most = grouped(int64(math.Ceil(most)))
	height := func(n int64) float64 { return round(float64(n) / minutes / most * lineHeight) }
	var in, ok, bad strings.Builder
	for i := range done.steps {
		s := &done.steps[i]
		x, good, wrong := round(float64(i)*width), height(s.Done), height(s.Retried+s.Failed)
		box(&ok, x, lineHeight-good, width*0.85, good)
		box(&bad, x, lineHeight-good-wrong, width*0.85, wrong)
		fmt.Fprintf(&in, "%c%v %vH%v", "ML"[min(i, 1)], x, round(lineHeight-height(s.Enqueued)), round(float64(i+1)*width))
		c.Hits = append(c.Hits, hit{X: x, Width: round(width), Title: fmt.Sprintf("%s: %s enqueued, %s done, %s failed", s.At.UTC().Format("2006-01-02 15:04Z"), grouped(s.Enqueued), grouped(s.Done), grouped(s.Retried+s.Failed))})
	}
	c.In, c.Done, c.Bad = in.String(), ok.String(), bad.String()
	c.Total = [3]string{grouped(done.enqueued), grouped(done.Done), grouped(done.Retried + done.Failed)}
	length := a.Step * time.Duration(n)
	for i := range ticks + 1 {
		c.Ticks = append(c.Ticks, a.From.Add(length*time.Duration(i)/ticks))
	}
	for _, m := range marks {
		if at := m.At.Sub(a.From); at >= 0 && at <= length {
			m.X = round(float64(at) / float64(length) * lineWidth)
			c.Marks = append(c.Marks, m)
		}
	}
	return c
}

// box adds a rectangle to a path; one that would not be seen is left out.
func box(path *strings.Builder, x, y, width, height float64) {
	if height > 0 {
		fmt.Fprintf(path, "M%v %vh%vv%vh-%vz", round(x), round(y), round(width), round(max(height, 1)), round(width))
	}
}

// nice is the next number of 1, 2 or 5 times a power of ten.
func nice(most float64) float64 {
	if most <= 1 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, f := range []float64{1, 2, 5} {
		if most <= f*power {
			return f * power
		}
	}
	return 10 * power
}

// spark is a chart as small as a word.
type spark struct{ Done, Bad, Label string }

func sparkOf(done *sums) *spark {
	if len(done.steps) == 0 {
		return nil
	}
	per := (len(done.steps) + sparkSteps - 1) / sparkSteps
	var good, wrong [sparkSteps]int64
	var most int64 = 1
	for i := range done.steps {
		k := i / per
		good[k] += done.steps[i].Done
		wrong[k] += done.steps[i].Retried + done.steps[i].Failed
		most = max(most, good[k]+wrong[k])
	}
	var ok, bad strings.Builder
	for k := range good {
		g, w := round(float64(good[k])/float64(most)*sparkHeight), round(float64(wrong[k])/float64(most)*sparkHeight)
		box(&ok, float64(k*sparkWidth), sparkHeight-g, sparkWidth-1, g)
		box(&bad, float64(k*sparkWidth), sparkHeight-g-w, sparkWidth-1, w)
	}
	return &spark{ok.String(), bad.String(), fmt.Sprintf("%s done, %s failed", grouped(done.Done), grouped(done.Retried+done.Failed))}
}

// window is the time that a page is about: it stands in the address, so that who follows a link sees it, too.
type window struct {
	since time.Duration
	until time.Time // zero: now
}

func (v *visit) window() (w window, err error) {
	q := v.params()
	w.since = q.duration("since", time.Hour)
	if w.since < time.Minute || w.since > 30*24*time.Hour {
		q.wrong("since", "not within a minute and 720h")
	}
	if text := q.Get("until"); text != "" {
		if w.until, err = time.Parse(time.RFC3339, text); err != nil {
			q.wrong("until", "no time, such as 2026-03-01T08:00:00Z")
		}
	}
	return w, q.err
}

// pictured is a page with blocks about the picture of each store, in the window that the address names.
func pictured(show func(*visit, context.Context, *store, *picture) ([]block, error), filter ...input) func(*visit) (*screen, error) {
	return func(v *visit) (*screen, error) {
		w, err := v.window()
		if err != nil {
			return nil, err
		}
		return ofStores(func(v *visit, ctx context.Context, s *store) ([]block, error) {
			p, err := v.picture(ctx, s, w)
			if err != nil {
				return nil, err
			}
			return show(v, ctx, s, p)
		}, filter...)(v)
	}
}

// timeline draws what was done in a window, with links that narrow it down or move it.
func (v *visit) timeline(p *picture, done *sums, marks []mark) *timeline {
	w, a := &p.window, &p.activity
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
		c.Later = v.here("since", w.since.String(), "until", "")
		if later := until.Add(w.since); !later.After(v.now) {
			c.Later = v.here("since", w.since.String(), "until", at(later))
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
