package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// chart is bars side by side, drawn by the server.
type chart struct {
	Label         string
	Width, Height int
	Bars          []bar
	Legend        []legend
}

// bar is a value of a chart, with a mark below it that says what its color does.
type bar struct {
	Class, Title, Mark  string
	N                   int64
	X, Y, Width, Height float64
}

type legend struct{ Class, Text string }

const (
	chartWidth  = 600
	chartHeight = 80
)

func bars(label string, all []bar, legends ...legend) *chart {
	var most int64 = 1
	for i := range all {
		most = max(most, all[i].N)
	}
	width := chartWidth / float64(len(all))
	for i := range all {
		b := &all[i]
		b.X, b.Width, b.Height = round(float64(i)*width), round(width*0.9), round(float64(b.N)/float64(most)*chartHeight)
		if b.N > 0 {
			b.Height = max(b.Height, 1)
		}
		b.Y = chartHeight - b.Height
	}
	return &chart{label, chartWidth, chartHeight, all, legends}
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// graph is a join with its steps and waits: each of few steps is a node, of many those of a topic in a state are one.
type graph struct {
	Label, State          string
	Width, Height, Middle int
	Nodes, Waits          []node
}

type node struct {
	Class, Text, Title, Href string
	Y                        int
}

const (
	graphSteps = 1000 // are read for a graph
	graphNodes = 24   // are drawn
	graphEach  = 12   // steps are nodes of their own
	graphWaits = 12   // are drawn
	nodeHeight = 30
	nodeText   = 34 // characters
)

func (v *visit) graph(ctx context.Context, s *store, j *join.Info) (*graph, error) {
	type kind struct {
		topic string
		state join.Status
		id    outbox.MessageID // of one that is a node of its own
	}
	kinds, read := map[kind]int64{}, 0
	for m, err := range s.Joins.Members(ctx, j.ID, join.MembersOptions{}) {
		if err != nil {
			return nil, err
		}
		k := kind{topic: m.Topic, state: m.Status}
		if j.ExpectedSteps <= graphEach {
			k.id = m.MessageID
		}
		if kinds[k] > 0 || len(kinds) < graphNodes {
			kinds[k]++
		}
		if read++; read == graphSteps {
			break
		}
	}
	g := &graph{Label: progress(j) + " steps", State: string(j.Status)}
	if read == graphSteps || len(kinds) == graphNodes {
		g.Label += "; drawn are up to " + grouped(graphNodes) + " kinds among the first " + grouped(int64(read))
	}
	for k, n := range kinds {
		one := drawnAs(string(k.state), grouped(n)+" × "+k.topic)
		one.Href = v.here("status", string(k.state), "after", "")
		if j.ExpectedSteps <= graphEach {
			one.Href = v.hrefIn(s.key, "messages/"+k.id.String())
		}
		one.Title = grouped(n) + " " + string(view.MemberState(j, &join.Member{Status: k.state})) + ": " + k.topic
		g.Nodes = append(g.Nodes, one)
	}
	slices.SortFunc(g.Nodes, func(a, b node) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Title, b.Title)) })
	if err := v.waits(ctx, s, j, g); err != nil {
		return nil, err
	}
	g.Height = max(len(g.Nodes), len(g.Waits), 1) * nodeHeight
	for _, side := range [][]node{g.Nodes, g.Waits} {
		for i := range side {
			side[i].Y = (g.Height-len(side)*nodeHeight)/2 + i*nodeHeight + nodeHeight/2
		}
	}
	g.Middle = g.Height / 2
	return g, nil
}

// waits adds what the end of a join wakes, with the state of each.
func (v *visit) waits(ctx context.Context, s *store, j *join.Info, g *graph) error {
	g.Width = 600
	all, err := engine.Query(ctx, s.db(), op.ExplainWaits{Join: j.ID, Most: graphWaits})
	for i := range all {
		m, unread := s.Outbox.Get(ctx, outbox.Position(all[i].ID))
		if errors.Is(unread, outbox.ErrNotFound) {
			continue
		} else if unread != nil {
			return unread
		}
		sends := "nothing"
		switch complete, fail := join.Sends(access.Key{}, m.Payload); {
		case complete != "" && fail != "":
			sends = complete + ", or " + fail + " if it fails"
		case fail != "":
			sends = fail + " if it fails"
		case complete != "":
			sends = complete
		}
		status := view.MessageStatus(m)
		one := drawnAs(string(status), "sends "+sends)
		one.Title, one.Href = "wait, "+string(status)+": sends "+sends, v.hrefIn(s.key, "messages/"+m.ID.String())
		g.Waits, g.Width = append(g.Waits, one), 960
	}
	return err
}

// drawnAs is a node by the state of what it stands for, of a step or a message.
func drawnAs(state, text string) node {
	n := node{Class: "plain", Text: "○ " + text}
	switch state {
	case string(join.Completed), string(outbox.Done):
		n.Class, n.Text = "out", "✓ "+text
	case string(join.Failed), string(outbox.Discarded), string(outbox.Expired):
		n.Class, n.Text = "bad", "■ "+text
	}
	if utf8.RuneCountInString(n.Text) > nodeText {
		n.Text = string([]rune(n.Text)[:nodeText]) + "…"
	}
	return n
}

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
