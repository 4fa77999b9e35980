package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

const (
	kinRows  = 50 // of what a flow began are shown,
	kinDepth = 4  // flows below each other
)

// apiFlow is what is stored of a flow, as the API has it.
type apiFlow struct {
	Steps   []flow.Event `json:"steps"`
	Signals []flow.Event `json:"signals"`
	Waits   *flow.Event  `json:"waits,omitempty"`
	// Next is the value of the parameter after that the next page of steps begins behind; none: this was the last.
	Next string `json:"next,omitempty"`
}

// steps reads the page of a flow's steps that the address asks for, as the visitor may read them.
func (v *visit) steps(s *store, m *outbox.Info, results bool) (*apiFlow, error) {
	q := v.params()
	after := q.number("after")
	if q.err != nil {
		return nil, q.err
	}
	i, next, err := s.Flows().Page(v.Context(), access.Key{}, m, after, pageSize)
	if err != nil {
		return nil, err
	}
	f := &apiFlow{Steps: i.Steps, Signals: i.Signals, Waits: i.Waits}
	if next > 0 {
		f.Next = number64(int64(next))
	}
	for _, list := range [][]flow.Event{f.Steps, f.Signals} {
		for k := range list {
			if e := &list[k]; e.State == "failed" || e.State == "ending" {
				e.Data = []byte(v.private(m.Topic, string(e.Data)))
			} else if !results || !v.readsResults() {
				e.Data = nil
			}
		}
	}
	return f, nil
}

// flow shows what is stored of a flow by its message, and what can be done with it; nothing of other messages.
func (v *visit) flow(s *store, m *outbox.Info) ([]block, error) {
	if !strings.HasPrefix(m.Topic, flow.TopicPrefix) {
		return nil, nil
	}
	f, err := v.steps(s, m, true)
	if err != nil {
		return nil, err
	}
	about := block{Heading: "Flow", Note: "It waits for nothing."}
	parent, _ := outbox.ParseMessageID(m.Headers[op.FlowRun])
	about.Facts = facts("Began it", v.messageLink(s, parent), "As part of", v.private(m.Topic, m.Headers[op.FlowPart]))
	if w := f.Waits; w != nil {
		what, until := words(strings.TrimSpace(w.State+" "+w.Name)), m.NextAttemptAt
		if w.State == "join" {
			what = link(what.Text, v.hrefIn(s.key, "joins/"+w.Name))
		}
		if until.Year() >= 9999 {
			until = time.Time{}
		}
		about.Note, about.Facts = "", append(facts("Waits for", what, "Since", w.At, "Until", until), about.Facts...)
	}
	if m.Headers[op.FlowPart] == "" && (m.Status == outbox.Ready || m.Status == outbox.InProgress) {
		about.Actions = offer("signal-flow cancel-flow", "store", v.key, "id", m.ID.String())
		if f.Waits != nil && f.Waits.State == "signal" {
			about.Actions[0].Inputs[0].Value = f.Waits.Name
		}
	}
	all := []block{about, {Heading: "Steps", Chart: stepStrip(f.Steps), Table: lead(v, s, v.eventTable(f.Steps), pageOf[flow.Event]{f.Steps, f.Next})}}
	if n := len(f.Signals); n > 0 {
		signals := block{Heading: "Signals that no step took"}
		if n > pageSize {
			f.Signals, signals.Note = f.Signals[n-pageSize:], fmt.Sprintf("These are the newest %d; the command below prints all.", pageSize)
		}
		signals.Table = v.eventTable(f.Signals)
		all = append(all, signals)
	}
	var kin [][]cell
	if err := v.kin(v.Context(), s, m.ID, 0, &kin); err != nil || len(kin) == 0 {
		return all, err
	}
	began := block{Heading: "What it began", Table: tableOf("", []string{"State", "Step", "What", "Steps"}, kin, func(row *[]cell) []cell { return *row })}
	if len(kin) >= kinRows {
		began.Note = "These are the first " + grouped(int64(len(kin))) + "."
	}
	return append(all, began), nil
}

// stepStrip draws how long it took until each step was stored, behind the one before.
func stepStrip(steps []flow.Event) *chart {
	var all []bar
	for k, e := range steps {
		all = append(all, barOf(e.State, e.Name, e.At.Sub(steps[max(k-1, 0)].At)))
	}
	if len(all) == 0 {
		return nil
	}
	return bars("How long it was until each step", all, legend{"out", "done ✓"}, legend{"bad", "failed ■"}, legend{"plain", "other ○"})
}

// barOf is a bar of what took a time, and what became of it.
func barOf(state, title string, took time.Duration) bar {
	one := bar{N: 1, Title: state + ", " + title} // 1: so that it can be seen
	one.Class, one.Mark = look(state)
	if took > 0 {
		one.N, one.Title = one.N+float64(took.Milliseconds()), one.Title+", took "+engine.Exact(took.Round(time.Millisecond))
	}
	return one
}

func (v *visit) eventTable(events []flow.Event) *table {
	return tableOf("None is stored.", []string{"State", "Name", "At", "Attempts", "Result"}, events, func(e *flow.Event) []cell {
		name, tries := words(cmp.Or(e.Name, "cancel")), cell{Number: true}
		if e.Attempts > 0 {
			tries = count(int64(e.Attempts))
		}
		result := v.result(e.Data, e.Bytes)
		if e.State == "failed" || e.State == "ending" {
			result = words(firstLine(string(e.Data)))
		}
		return []cell{state(cmp.Or(e.State, "sent")), name, at(e.At), tries, result}
	})
}

// kin adds the joins that a flow waits or waited for, with their messages, and below those that are flows what these
// began.
func (v *visit) kin(ctx context.Context, s *store, id outbox.MessageID, depth int, rows *[][]cell) error {
	branch := strings.Repeat("\u2003", depth)
	for j, err := range s.Joins.List(ctx, join.ListOptions{GroupingKey: id.String()}) {
		if err != nil || len(*rows) >= kinRows {
			return err
		}
		name := cell{}
		if v.access.Payloads {
			name = words(branch + v.private("", j.Metadata))
		}
		*rows = append(*rows, []cell{state(string(j.Status)), name, link(branch+"join "+j.ID.String(), v.hrefIn(s.key, "joins/"+j.ID.String())), words(progress(&j))})
		for m, err := range s.Joins.Members(ctx, j.ID, join.MembersOptions{}) {
			if err != nil || len(*rows) >= kinRows {
				return err
			}
			*rows = append(*rows, []cell{state(string(m.Status)), {}, link(branch+"└ "+m.Topic+" "+m.MessageID.String(), v.hrefIn(s.key, "messages/"+m.MessageID.String())), {}})
			if j.ExpectedSteps > 1 || depth == kinDepth { // parts begin nothing
				continue
			}
			if err := v.kin(ctx, s, m.MessageID, depth+1, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

func signalFlow(a *act, id outbox.MessageID) (string, error) {
	return steered("signal sent", a.Flows().Signal(a, id, a.Get("signal"), []byte(cmp.Or(a.Get("data"), "null"))))
}

func cancelFlow(a *act, id outbox.MessageID) (string, error) {
	return steered("flow to be cancelled", a.Flows().Cancel(a, id))
}

func steered(did string, err error) (string, error) {
	if errors.Is(err, flow.ErrOver) {
		return became(false, nil)("flow", "")
	}
	return did, err
}
