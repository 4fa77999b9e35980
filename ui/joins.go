package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

func joinStates() []string { return append(memberStates(), string(join.Cancelled)) }

func memberStates() []string { return names(join.Pending, join.Completed, join.Failed) }

// listJoins reads the page that the address asks for. Either of its filters has an index, both together have none.
func (v *visit) listJoins(ctx context.Context, s *store) (pageOf[join.Info], error) {
	q := v.params()
	status, opts := oneOf[join.Status](q, "status", joinStates()), join.ListOptions{GroupingKey: q.Get("group")}
	if q.Get("after") != "" {
		opts.After = &join.Info{ID: idOf(q, "after", uuid.Parse)}
	}
	match := func(j *join.Info) bool { return j.Status == status }
	if status == "" || opts.GroupingKey == "" {
		opts.Status, match = status, nil
	}
	return sift(q.err, s.Joins.List(ctx, opts), match, func(j *join.Info) string { return j.ID.String() })
}

func (v *visit) joinTable(s *store, list []join.Info) *table {
	t := tableOf("No joins.", []string{"State", "Join", "Grouping key", "Steps", "Created", "Deadline"}, list, func(j *join.Info) []cell {
		return []cell{
			pick(j.Status == join.Pending || j.Status == join.Failed, state(string(j.Status)), "id", j.ID.String()), {Text: j.ID.String(), Href: v.hrefIn(s.key, "joins/"+j.ID.String()), Mono: true}, words(j.GroupingKey), words(progress(j)), at(j.CreatedAt), at(j.Deadline),
		}
	})
	return t.selectable(s, offer("cancel-join retry-join")...)
}

// progress is how many steps of a join have ended.
func progress(j *join.Info) string {
	text := fmt.Sprintf("%d of %d", j.CompletedSteps+j.FailedSteps, j.ExpectedSteps)
	if j.FailedSteps > 0 {
		text += fmt.Sprintf(", %d failed", j.FailedSteps)
	}
	return text
}

func oneJoin(v *visit, s *store) (*screen, error) {
	j, err := v.join(s)
	if err != nil {
		return nil, err
	}
	id := j.ID
	found, unknown := v.explain(s, id.String(), "join")
	members, unread := v.members(s, id)
	drawn, err := v.graph(v.Context(), s, j)
	if err = cmp.Or(unknown, unread, err); err != nil {
		return nil, err
	}
	can := map[join.Status]string{join.Pending: "cancel-join", join.Failed: "retry-join"}[j.Status]
	sc := &screen{Title: "Join " + id.String(), Filter: v.filter(input{Name: "status", Label: "Steps that are", Options: memberStates()}), Blocks: []block{
		{Findings: explained(found), Actions: offer(can, "store", v.key, "id", id.String())},
		{Heading: "What it is", Facts: facts("State", state(string(j.Status)), "Grouping key", j.GroupingKey, "Steps", progress(j), "Created", j.CreatedAt, "Changed", j.UpdatedAt, "Deadline", j.Deadline), Graph: drawn},
		{Heading: "Steps", Table: lead(v, s, v.memberTable(s, j, members.rows), members)},
	}}
	if j.Metadata != "" && v.access.Payloads {
		sc.Blocks = append(sc.Blocks, block{Heading: "Metadata", Text: document([]byte(v.private("", j.Metadata)))})
	}
	return sc, nil
}

func (v *visit) join(s *store) (*join.Info, error) {
	id, err := parsed(uuid.Parse, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return s.Joins.Get(v.Context(), id)
}

func (v *visit) members(s *store, id join.ID) (pageOf[join.Member], error) {
	q := v.params()
	status, opts := oneOf[join.Status](q, "status", memberStates()), join.MembersOptions{}
	if q.Get("after") != "" {
		opts.After = &join.Member{MessageID: idOf(q, "after", outbox.ParseMessageID)}
	}
	match := func(m *join.Member) bool { return alike(status, m.Status) }
	return sift(q.err, s.Joins.Members(v.Context(), id, opts), match, func(m *join.Member) string { return m.MessageID.String() })
}

func (v *visit) memberTable(s *store, j *join.Info, members []join.Member) *table {
	return tableOf("No steps.", []string{"State", "Message", "Topic", "Attached", "Result"}, members, func(m *join.Member) []cell {
		result := m.Result
		if !v.readsResults() {
			result = nil
		}
		return []cell{
			state(string(view.MemberState(j, m))), v.messageLink(s, m.MessageID), words(m.Topic), at(m.CreatedAt), v.result(result, len(m.Result)),
		}
	})
}

// readsResults reports whether the visitor reads what handlers and steps returned: whole, or not at all.
func (v *visit) readsResults() bool { return v.access.Payloads && v.s.opts.Redact == nil }

// result is a result of so many bytes: what of it was read, or only its size.
func (v *visit) result(data []byte, size int) cell {
	switch {
	case size == 0:
		return cell{}
	case len(data) > maxInRow:
		return words(firstLine(readable(data)))
	case len(data) == 0:
		return words(plural(int64(size), "byte"))
	}
	return cell{Document: document(data)}
}

func retryJoin(a *act, id uuid.UUID) (string, error) {
	done, err := a.Joins.Redrive(a, id)
	if errors.Is(err, join.ErrNotFailed) {
		return became(false, nil)("join", "")
	}
	text := plural(int64(done.Steps), "step") + " ready again"
	if done.StepsLost > 0 {
		text += "; " + plural(int64(done.StepsLost), "step") + " cannot run again"
	}
	return text, err
}

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
	kinds, read := map[node]int64{}, 0 // their texts are topics, their classes states
	for m, err := range s.Joins.Members(ctx, j.ID, join.MembersOptions{}) {
		if err != nil {
			return nil, err
		}
		kind := node{Text: m.Topic, Class: string(m.Status), Href: v.here("status", string(m.Status), "after", "")}
		if j.ExpectedSteps <= graphEach {
			kind.Href = v.hrefIn(s.key, "messages/"+m.MessageID.String())
		}
		if kinds[kind] > 0 || len(kinds) < graphNodes {
			kinds[kind]++
		}
		if read++; read == graphSteps {
			break
		}
	}
	g := &graph{Label: progress(j) + " steps", State: string(j.Status)}
	if read == graphSteps || len(kinds) == graphNodes {
		g.Label += "; drawn are up to " + grouped(graphNodes) + " kinds among the first " + grouped(int64(read))
	}
	for kind, n := range kinds {
		one := drawnAs(kind.Class, grouped(n)+" × "+kind.Text)
		shown := view.MemberState(j, &join.Member{Status: join.Status(kind.Class)})
		one.Href, one.Title = kind.Href, grouped(n)+" "+string(shown)+": "+kind.Text
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
		m, unread := s.Outbox.GetByPosition(ctx, outbox.Position(all[i].ID))
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
	class, sign := look(state)
	n := node{Class: class, Text: sign + " " + text}
	if utf8.RuneCountInString(n.Text) > nodeText {
		n.Text = string([]rune(n.Text)[:nodeText]) + "…"
	}
	return n
}
