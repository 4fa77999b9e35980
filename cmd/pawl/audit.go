package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bravellian/pawl/internal/audit"
)

// auditCmd is "pawl audit".
type auditCmd struct {
	By     string `placeholder:"NAME" help:"Only what somebody did."`
	Action string `placeholder:"ACTION" values:"redrive,discard,undiscard,cancel,reschedule,pause,resume,put,trigger,enable,disable,remove,release,revive,signal,fix" help:"Only what was done in one way: redrive, discard, undiscard, cancel, reschedule, pause, resume, put, trigger, enable, disable, remove, release, revive, signal or fix."`

	listFlags
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
		audit.Redrive, audit.Discard, audit.Undiscard, audit.Cancel, audit.Reschedule, audit.Pause, audit.Resume, audit.Put, audit.Trigger,
		audit.Enable, audit.Disable, audit.Remove, audit.Release, audit.Revive, audit.Signal, audit.Fix, audit.Restore,
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

// Run lists what was done.
func (c *auditCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := c.checkLimit(); err != nil {
		return err
	}
	return c.listing().list(ctx, a, g, c.listFlags, func(s *store) iter.Seq2[audit.Entry, error] {
		return audit.List(ctx, s, audit.Options{Actor: c.By, Action: c.action()})
	})
}

func (c *auditCmd) listing() *listing[audit.Entry] {
	return &listing[audit.Entry]{
		none: c.nothing(),
		columns: []column[audit.Entry]{
			{head: "AT", cell: func(e *audit.Entry) string { return stamp(e.At) }},
			{head: "BY", cell: func(e *audit.Entry) string { return e.Actor }},
			{head: "LOGIN", cell: func(e *audit.Entry) string { return e.Login }, optional: true},
			{head: "ACTION", cell: func(e *audit.Entry) string { return e.Action }},
			{head: "COUNT", cell: func(e *audit.Entry) string { return number(e.Count) }},
			{head: "TARGET", cell: func(e *audit.Entry) string { return e.Target }},
			{head: "REASON", cell: func(e *audit.Entry) string { return e.Reason }, optional: true},
		},
		id: func(e *audit.Entry) string { return e.ID.String() },
	}
}
