package ui

import (
	"context"
	"fmt"
	"net/url"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// joins lists joins, newest first.
func joins(v *visit) (*screen, error) {
	sc := &screen{Title: "Joins", Filter: &filter{Fields: []field{
		{Name: "status", Label: "State", Value: v.query.Get("status"), Options: []string{string(join.Pending), string(join.Completed), string(join.Failed), string(join.Cancelled)}},
		{Name: "group", Label: "Grouping key", Value: v.query.Get("group")},
	}, Keep: []string{"store", v.key}}}
	opts, err := v.joinOptions()
	if err != nil {
		return nil, err
	}
	sc.Blocks = v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, err := s.Joins.List(ctx, opts)
		if err != nil {
			return nil, err
		}
		t := v.joinTable(s, list)
		if len(list) == pageSize {
			t.More = v.here("store", s.key, "after", list[len(list)-1].ID.String())
		}
		return []block{{Table: t}}, nil
	})
	return sc, nil
}

// joinOptions are the filters of the address.
func (v *visit) joinOptions() (opts join.ListOptions, err error) {
	opts = join.ListOptions{Status: join.Status(v.query.Get("status")), GroupingKey: v.query.Get("group"), Limit: pageSize}
	if after := v.query.Get("after"); after != "" {
		opts.After = &join.Info{}
		opts.After.ID, err = parsed(join.ParseID)(after)
	}
	return opts, err
}

func (v *visit) joinTable(s *store, list []join.Info) *table {
	t := &table{Head: []string{"State", "Join", "Grouping key", "Steps", "Created", "Deadline"}, None: "No joins."}
	for i := range list {
		j := &list[i]
		t.Rows = append(t.Rows, []cell{
			state(string(j.Status)), {Text: j.ID.String(), Href: v.hrefIn(s.key, "joins/"+j.ID.String()), Mono: true}, words(j.GroupingKey), words(progress(j)), at(j.CreatedAt), at(j.Deadline),
		})
	}
	return t
}

// progress is how many steps of a join have ended.
func progress(j *join.Info) string {
	text := fmt.Sprintf("%d of %d", j.CompletedSteps+j.FailedSteps, j.ExpectedSteps)
	if j.FailedSteps > 0 {
		text += fmt.Sprintf(", %d failed", j.FailedSteps)
	}
	return text
}

// oneJoin shows a join with its members.
func oneJoin(v *visit) (*screen, error) {
	s, err := v.one()
	if err != nil {
		return nil, err
	}
	j, err := v.join(s)
	if err != nil {
		return nil, err
	}
	id := j.ID
	found, err := s.Admin.Explain(v.Context(), id.String(), "join")
	if err != nil {
		return nil, err
	}
	members, err := v.members(s, id)
	if err != nil {
		return nil, err
	}
	actions := []action(nil)
	if j.Status == join.Pending {
		actions = []action{{Do: "cancel-join", Label: "Cancel", Danger: true, Fields: []string{"store", v.key, "id", id.String()}, Inputs: []input{why()}, Confirm: "Nothing that waits for it is sent. Its steps go on."}}
	}
	done, failedSteps, open := int64(j.CompletedSteps), int64(j.FailedSteps), int64(j.ExpectedSteps-j.CompletedSteps-j.FailedSteps)
	sc := &screen{Title: "Join " + id.String(), Blocks: []block{
		{Findings: explained(found), Actions: actions},
		{Heading: "What it is", Facts: facts("State", state(string(j.Status)), "Grouping key", j.GroupingKey, "Steps", progress(j), "Created", j.CreatedAt, "Changed", j.UpdatedAt, "Deadline", j.Deadline),
			Chart: share("Steps", part{"out", "completed", done}, part{"bad", "failed", failedSteps}, part{"plain", "open", open})},
		{Heading: "Steps", Table: v.memberTable(s, j, members)},
	}}
	if j.Metadata != "" && v.access.Payloads {
		sc.Blocks = append(sc.Blocks, block{Heading: "Metadata", Text: &text{Body: readable([]byte(j.Metadata)), Hidden: true, Label: "Show " + plural(int64(len(j.Metadata)), "byte")}})
	}
	return sc, nil
}

// join reads the join that the path names.
func (v *visit) join(s *store) (*join.Info, error) {
	id, err := parsed(join.ParseID)(v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return s.Joins.Get(v.Context(), id)
}

// members reads a page of a join's members.
func (v *visit) members(s *store, id join.ID) (all []join.Member, err error) {
	opts := join.MembersOptions{Status: join.Status(v.query.Get("status")), Limit: pageSize}
	if after := v.query.Get("after"); after != "" {
		opts.After = &join.Member{}
		if opts.After.MessageID, err = parsed(outbox.ParseMessageID)(after); err != nil {
			return nil, err
		}
	}
	return s.Joins.Members(v.Context(), id, opts)
}

func (v *visit) memberTable(s *store, j *join.Info, members []join.Member) *table {
	t := &table{Head: []string{"State", "Message", "Topic", "Attached", "Result"}, None: "No steps."}
	for i := range members {
		m := &members[i]
		result := words("")
		if len(m.Result) > 0 {
			result = words(plural(int64(len(m.Result)), "byte"))
			if v.access.Payloads && v.s.opts.Redact == nil {
				result = words(firstLine(readable(m.Result)))
			}
		}
		t.Rows = append(t.Rows, []cell{
			state(string(view.MemberState(j, m))), {Text: m.MessageID.String(), Href: v.hrefIn(s.key, "messages/"+m.MessageID.String()), Mono: true}, words(m.Topic), at(m.CreatedAt), result,
		})
	}
	if len(members) == pageSize {
		t.More = v.here("after", members[len(members)-1].MessageID.String())
	}
	return t
}

func cancelJoin(ctx context.Context, s *store, form url.Values) (string, error) {
	id, err := parsed(join.ParseID)(form.Get("id"))
	if err != nil {
		return "", err
	}
	return became(s.Joins.Cancel(ctx, id))("join", "cancelled")
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
