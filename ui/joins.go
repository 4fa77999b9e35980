package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

func joinStates() []string {
	return []string{string(join.Pending), string(join.Completed), string(join.Failed), string(join.Cancelled)}
}

func memberStates() []string {
	return []string{string(join.Pending), string(join.Completed), string(join.Failed)}
}

func joins(v *visit) (*screen, error) {
	f := v.filter(input{Name: "status", Label: "State", Options: joinStates()}, input{Name: "group", Label: "Grouping key"})
	return listing(v, "Joins", f, v.listJoins, v.joinTable)
}

// listJoins reads the page that the address asks for. Either of its filters has an index, both
// together have none.
func (v *visit) listJoins(ctx context.Context, s *store) (p pageOf[join.Info], err error) {
	status, opts := join.Status(v.query.Get("status")), join.ListOptions{GroupingKey: v.query.Get("group")}
	if err := oneOf("status", string(status), joinStates()); err != nil {
		return p, err
	}
	if text := v.query.Get("after"); text != "" {
		opts.After = &join.Info{}
		if opts.After.ID, err = parsed(uuid.Parse, text); err != nil {
			return p, err
		}
	}
	match := func(j *join.Info) bool { return j.Status == status }
	if status == "" || opts.GroupingKey == "" {
		opts.Status, match = status, nil
	}
	return sift(s.Joins.List(ctx, opts), match, func(j *join.Info) string { return j.ID.String() })
}

func (v *visit) joinTable(s *store, list []join.Info) *table {
	t := tableOf("No joins.", []string{"State", "Join", "Grouping key", "Steps", "Created", "Deadline"}, list, func(j *join.Info) []cell {
		return []cell{
			pick(j.Status == join.Pending || j.Status == join.Failed, state(string(j.Status)), "id", j.ID.String()), {Text: j.ID.String(), Href: v.hrefIn(s.key, "joins/"+j.ID.String()), Mono: true}, words(j.GroupingKey), words(progress(j)), at(j.CreatedAt), at(j.Deadline),
		}
	})
	return t.selectable(s, joinActions()...)
}

// joinActions are what can be done to joins: to one that is pending, and to one that has failed.
func joinActions(fields ...string) []action {
	return []action{
		{Do: "cancel-join", Label: "Cancel", Danger: true, Fields: fields, Inputs: []input{why()}, Confirm: "Nothing that waits for a cancelled join is sent. Its steps go on."},
		{Do: "retry-join", Label: "Retry", Fields: fields, Inputs: []input{why()}, Confirm: "Failed steps of a join run again, and what waits for it waits for its next end."},
	}
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
	actions := joinActions("store", v.key, "id", id.String())
	switch j.Status {
	case join.Pending:
		actions = actions[:1]
	case join.Failed:
		actions = actions[1:]
	default:
		actions = nil
	}
	sc := &screen{Title: "Join " + id.String(), Filter: v.filter(input{Name: "status", Label: "Steps that are", Options: memberStates()}), Blocks: []block{
		{Findings: explained(found), Actions: actions},
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

func (v *visit) members(s *store, id join.ID) (p pageOf[join.Member], err error) {
	var after *join.Member
	if text := v.query.Get("after"); text != "" {
		after = &join.Member{}
		if after.MessageID, err = parsed(outbox.ParseMessageID, text); err != nil {
			return p, err
		}
	}
	status := join.Status(v.query.Get("status"))
	if err := oneOf("status", string(status), memberStates()); err != nil {
		return p, err
	}
	match := func(m *join.Member) bool { return status == "" || m.Status == status }
	return sift(s.Joins.Members(v.Context(), id, join.MembersOptions{After: after}), match, func(m *join.Member) string { return m.MessageID.String() })
}

func (v *visit) memberTable(s *store, j *join.Info, members []join.Member) *table {
	return tableOf("No steps.", []string{"State", "Message", "Topic", "Attached", "Result"}, members, func(m *join.Member) []cell {
		result := words("")
		if len(m.Result) > 0 {
			result = words(plural(int64(len(m.Result)), "byte"))
			if v.access.Payloads && v.s.opts.Redact == nil {
				if result = (cell{Document: document(m.Result)}); len(m.Result) > maxInRow {
					result = words(firstLine(readable(m.Result)))
				}
			}
		}
		return []cell{
			state(string(view.MemberState(j, m))), {Text: m.MessageID.String(), Href: v.hrefIn(s.key, "messages/"+m.MessageID.String()), Mono: true}, words(m.Topic), at(m.CreatedAt), result,
		}
	})
}

func cancelJoin(ctx context.Context, s *store, id uuid.UUID, _ url.Values) (string, error) {
	return became(s.Joins.Cancel(ctx, id))("join", "cancelled")
}

func retryJoin(ctx context.Context, s *store, id uuid.UUID, _ url.Values) (string, error) {
	done, err := s.Joins.Redrive(ctx, id)
	if errors.Is(err, join.ErrNotFailed) {
		return became(false, nil)("join", "")
	}
	text := plural(int64(done.Steps), "step") + " ready again"
	if done.StepsLost > 0 {
		text += "; " + plural(int64(done.StepsLost), "step") + " cannot run again"
	}
	return text, err
}

// became says whether something was changed.
func became(changed bool, err error) func(thing, done string) (string, error) {
	return func(thing, done string) (string, error) {
		if !changed {
			return "nothing was changed: the " + thing + " is in another state by now", err
		}
		return thing + " " + done, err
	}
}
