package ui

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
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

// bars draws values.
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

// graph draws a join.
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
