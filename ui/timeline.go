package ui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/inspect"
)

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

const (
	lineWidth  = 600
	lineHeight = 120
	ticks      = 4
)

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

const (
	sparkSteps  = 30
	sparkWidth  = 3
	sparkHeight = 20
)

// sparkOf draws what was done with a subject.
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
