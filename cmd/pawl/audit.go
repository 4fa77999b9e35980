package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/audit"
)

// auditCmd is "pawl audit".
type auditCmd struct {
	By     string `placeholder:"NAME" help:"Only what somebody did."`
	Action string `placeholder:"ACTION" help:"Only what was done in one way: redrive, discard, cancel, reschedule, pause, resume, put, trigger, enable, disable, remove, release, revive or fix."`
	Limit  int    `short:"n" default:"50" placeholder:"N" help:"How many, at most 10000. Default: ${default}."`
}

// Help is printed by --help.
func (*auditCmd) Help() string {
	return `Newest first. COUNT is how many messages it was. Who did it is what --actor said:
by default the user of this machine. REASON is what --reason said, and is shown if
there is one. Entries are kept for a year.

"pawl retry" is noted as redrive, "jobs run" as trigger, "jobs rm" as remove, and
"doctor --fix" as fix.`
}

// actions are what pawl notes.
func actions() []string {
	return []string{
		audit.Redrive, audit.Discard, audit.Cancel, audit.Reschedule, audit.Pause, audit.Resume, audit.Put, audit.Trigger,
		audit.Enable, audit.Disable, audit.Remove, audit.Release, audit.Revive, audit.Fix, audit.Restore,
	}
}

// action is the one to look for, which some commands have another name for; "": any.
func (c *auditCmd) action() string {
	if note := map[string]string{"retry": audit.Redrive, "run": audit.Trigger, "rm": audit.Remove}[c.Action]; note != "" {
		return note
	}
	return c.Action
}

// nothing says that no entry was found. An action that pawl does not know may be a
// program's own, or a mistake.
func (c *auditCmd) nothing() string {
	if action := c.action(); action != "" && !slices.Contains(actions(), action) {
		return fmt.Sprintf("nothing was done by the name of %q; pawl itself notes %s", action, strings.Join(actions(), ", "))
	}
	return "nothing was done"
}

// auditView is an entry as JSON.
type auditView struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Action string    `json:"action"`
	Target string    `json:"target"`
	Reason string    `json:"reason,omitempty"`
	Count  int64     `json:"count"`
}

// Run lists what was done.
func (c *auditCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	list, err := admin.New(s, nil).Audit(ctx, admin.AuditFilter{Actor: c.By, Action: c.action(), Limit: c.Limit})
	if err := s.close(err); err != nil {
		return err
	}
	if g.JSON {
		return printAll(a, list, func(e admin.Entry) auditView {
			return auditView{e.ID.String(), e.At, e.Actor, e.Action, e.Target, e.Reason, e.Count}
		})
	}
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, c.nothing())
		return nil
	}
	var t terminal.Table
	if slices.ContainsFunc(list, func(e admin.Entry) bool { return e.Reason != "" }) {
		t.Row("AT", "BY", "ACTION", "COUNT", "TARGET", "REASON")
	} else {
		t.Row("AT", "BY", "ACTION", "COUNT", "TARGET")
	}
	for _, e := range list {
		t.Row(stamp(e.At), e.Actor, e.Action, number(e.Count), e.Target, e.Reason)
	}
	return t.Write(a.stdout, terminal.Width(a.stdout))
}
