package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

// joinsShowCmd is "pawl joins show".
type joinsShowCmd struct {
	ID      string `arg:"" help:"Id of the join."`
	Members int    `short:"n" default:"20" placeholder:"N" help:"How many members, at most 10000. Default: ${default}."`
	Failed  bool   `help:"Only members that failed."`
}

// Help is printed by --help.
func (*joinsShowCmd) Help() string {
	return `Members that failed come first, then those still awaited, then the completed
ones. A member that ended when the join was over is not counted. For a member's
payload and its last error see "pawl show ID"; its result is in --json.`
}

// Run shows a join.
func (c *joinsShowCmd) Run(ctx context.Context, a *app, g *options) error {
	if c.Members < 0 || c.Members > 10_000 {
		return usage("--members: not within 0 … 10000")
	}
	var found *join.Info
	var members roll
	err := g.eachJoin(ctx, []string{c.ID}, func(_ *store, joins *join.Joins, id join.ID) (err error) {
		if found, err = joins.Get(ctx, id); err != nil {
			return forgotten(err)
		}
		members, err = c.callRoll(ctx, joins, id)
		return forgotten(err)
	})
	if err != nil {
		return err
	}
	if g.JSON {
		first, rest := members.shown(c.Members)
		return a.printJSON(view.OfJoinWithMembers(found, first, rest))
	}
	if err := a.printJoin(found); err != nil {
		return err
	}
	return c.printMembers(a, found, members)
}

// roll is the members of a join that matter most, up to a bound.
type roll struct {
	members []join.Member
	more    bool // than these
}

// rollCall is how many members of a state are looked at.
const rollCall = 10_000

// callRoll reads the members by state. They move on meanwhile, out of pending,
// so pending ones are read first: none is missed, and of those met twice the
// later news count.
func (c *joinsShowCmd) callRoll(ctx context.Context, joins *join.Joins, id join.ID) (roll, error) {
	var r roll
	states := []join.Status{join.Pending, join.Completed, join.Failed}
	if c.Failed {
		states = states[2:]
	}
	latest := map[outbox.MessageID]join.Member{}
	for _, state := range states {
		list, err := c.inState(ctx, joins, id, state)
		if err != nil {
			return r, err
		}
		r.more = r.more || len(list) == rollCall
		for _, m := range list {
			latest[m.MessageID] = m
		}
	}
	for _, m := range latest {
		r.members = append(r.members, m)
	}
	slices.SortFunc(r.members, func(a, b join.Member) int {
		return cmp.Or(urgency(a.Status)-urgency(b.Status), cmp.Compare(a.Position, b.Position))
	})
	return r, nil
}

// rollPage is how many members are read before results are dropped.
const rollPage = 500

// inState reads the members of a state, and drops the results of those that are not shown: there
// may be too many for memory.
func (c *joinsShowCmd) inState(ctx context.Context, joins *join.Joins, id join.ID, state join.Status) (all []join.Member, err error) {
	for m, err := range joins.Members(ctx, id, join.MembersOptions{Status: state}) {
		if err != nil {
			return nil, err
		}
		if all = append(all, m); len(all)%rollPage == 0 {
			c.dropResults(all)
		}
		if len(all) == rollCall {
			break
		}
	}
	c.dropResults(all)
	return all, nil
}

// dropResults leaves the results to those that come first.
func (c *joinsShowCmd) dropResults(all []join.Member) {
	slices.SortFunc(all, func(a, b join.Member) int { return cmp.Compare(a.Position, b.Position) })
	for i := c.Members; i < len(all); i++ {
		all[i].Result = nil
	}
}

func urgency(s join.Status) int {
	return slices.Index([]join.Status{join.Failed, join.Pending, join.Completed}, s)
}

// shown are the first members, and how many come after them.
func (r roll) shown(limit int) (first []join.Member, rest int) {
	n := min(limit, len(r.members))
	return r.members[:n], len(r.members) - n
}

func (a *app) printJoin(j *join.Info) error {
	var t terminal.Table
	row := func(name, value string) {
		if value != "" {
			t.Row(name, value)
		}
	}
	row("join", j.ID.String())
	row("status", string(j.Status))
	row("steps", steps(a.stdout, j))
	row("group", j.GroupingKey)
	row("created", stamp(j.CreatedAt))
	row("updated", stamp(j.UpdatedAt))
	row("deadline", deadlineText(j, time.Now()))
	if err := t.Write(a.stdout, 0); err != nil {
		return err
	}
	if j.Metadata != "" {
		fmt.Fprintf(a.stdout, "\nmetadata (%s):\n%s", engine.Several(len(j.Metadata), "byte"), readable([]byte(j.Metadata)))
	}
	return nil
}

func (c *joinsShowCmd) printMembers(a *app, j *join.Info, r roll) error {
	if len(r.members) == 0 {
		none := "no members"
		if c.Failed {
			none = "no failed members"
		}
		fmt.Fprintln(a.stderr, none)
		return nil
	}
	first, rest := r.shown(c.Members)
	if len(first) > 0 {
		var t terminal.Table
		head := []string{"MEMBER", "TOPIC", "STATE", "ATTACHED"}
		results := slices.ContainsFunc(first, func(m join.Member) bool { return m.Result != nil })
		if results {
			head = append(head, "RESULT")
		}
		t.Row(head...)
		for i := range first {
			m := &first[i]
			topic := m.Topic
			if topic == "" {
				topic = "(cleaned up)"
			}
			row := []string{m.MessageID.String(), topic, string(view.MemberState(j, m)), stamp(m.CreatedAt)}
			if results {
				row = append(row, resultText(m))
			}
			t.Row(row...)
		}
		fmt.Fprintln(a.stdout)
		if err := t.Write(a.stdout, terminal.Width(a.stdout)); err != nil {
			return err
		}
	}
	if rest > 0 || r.more {
		atLeast := ""
		if r.more {
			atLeast = "at least "
		}
		fmt.Fprintf(a.stderr, "%s%d more not shown: --members N\n", atLeast, rest)
	}
	return nil
}

// resultText is how large a member's result is, or nothing.
func resultText(m *join.Member) string {
	if m.Result == nil {
		return ""
	}
	return engine.Several(len(m.Result), "byte")
}
