package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// flowsCmd is "pawl flows".
type flowsCmd struct {
	Ls     flowsLsCmd     `cmd:"" help:"List flows, with what they wait for."`
	Show   flowsShowCmd   `cmd:"" help:"Show a flow with its steps, and what it waits for."`
	Signal flowsSignalCmd `cmd:"" help:"Send a flow a signal."`
	Cancel flowsCancelCmd `cmd:"" help:"End flows: what they did is undone."`
}

// Help is printed by --help.
func (*flowsCmd) Help() string {
	return `A flow is a message whose topic is "flow." and its name, and whose handler runs steps. What else is done
with messages is done with it by the commands for them:

    pawl ls --topic flow.checkout --error refused
    pawl retry ID
    pawl explain ID

A flow that failed and is retried goes on at the step that failed. Where what it did was
undone, it begins anew.`
}

// parseFlow reads the id of a flow.
func parseFlow(id string) (outbox.MessageID, error) {
	parsed, err := outbox.ParseMessageID(id)
	if err != nil {
		return parsed, usage("%q is not the id of a flow: want a UUID", id)
	}
	return parsed, nil
}

// eachFlow does something with flows one after another.
func (g *options) eachFlow(ctx context.Context, ids []string, do func(*flow.Flows, outbox.MessageID) error) error {
	return eachID(ctx, g, ids, parseFlow, func(s *store, id outbox.MessageID) error { return forgotten(do(s.pawl().Flows(), id)) })
}

// flowsLsCmd is "pawl flows ls".
type flowsLsCmd struct {
	Flow      string `short:"f" placeholder:"NAME" help:"Only flows of a name."`
	Status    string `placeholder:"STATUS" values:"ready,scheduled,retrying,running,done,failed,discarded,expired" help:"Only flows that are ready, scheduled, retrying, running, done, failed, discarded or expired. Those that wait are scheduled or, after an attempt that failed, retrying."`
	pageFlags `set:"cursor=ID"`
}

// Help is printed by --help.
func (*flowsLsCmd) Help() string {
	return `Flows are listed from the newest down; parts of a fan-out are not listed. WAITS FOR says
what a flow is parked for, since when, and until when if it waits no longer than that.

Examples:

    pawl flows ls --status scheduled
    pawl flows ls --flow checkout --status failed -o id | xargs -n 1 pawl flows show
    pawl flows ls --json --limit 1000`
}

// Run lists flows.
func (c *flowsLsCmd) Run(ctx context.Context, a *app, g *options) error {
	of := lsCmd{Status: c.Status, pageFlags: c.pageFlags}
	f, err := of.filter()
	if err != nil {
		return err
	}
	if c.Flow != "" {
		f.Topic = flow.TopicPrefix + c.Flow
	}
	return flowListing().list(ctx, a, g, c.listFlags, func(s *store) iter.Seq2[flow.Info, error] { return s.pawl().Flows().List(ctx, f) })
}

func flowListing() *listing[flow.Info] {
	return &listing[flow.Info]{
		none: "no flows",
		columns: []column[flow.Info]{
			{head: "ID", cell: func(i *flow.Info) string { return number(int64(i.Position)) }},
			{head: "MESSAGE", cell: func(i *flow.Info) string { return i.ID.String() }},
			{head: "FLOW", cell: func(i *flow.Info) string { return strings.TrimPrefix(i.Topic, flow.TopicPrefix) }},
			{head: "STATUS", cell: func(i *flow.Info) string { return string(view.MessageStatus(i.Info)) }},
			{head: "BEGUN", cell: func(i *flow.Info) string { return stamp(i.CreatedAt) }},
			{head: "WAITS FOR", cell: waitsFor},
			{head: "NOTE", cell: func(i *flow.Info) string { return i.LastError }, optional: true},
		},
		id:    func(i *flow.Info) string { return number(int64(i.Position)) },
		pages: true,
		view: func(i *flow.Info) any {
			return struct {
				view.Message
				Waits *flow.Event `json:"waits,omitempty"`
			}{view.OfMessage(i.Info, false), i.Waits}
		},
	}
}

// waitsFor is what a flow is parked for, and since and until when.
func waitsFor(i *flow.Info) string {
	w := i.Waits
	if w == nil {
		return ""
	}
	text := strings.TrimSpace(w.State+" "+w.Name) + " since " + stamp(w.At)
	if w.State != "join" && i.NextAttemptAt.Year() < 9999 {
		text += " until " + stamp(i.NextAttemptAt)
	}
	return text
}

// flowsShowCmd is "pawl flows show".
type flowsShowCmd struct {
	ID string `arg:"" help:"Id of the flow."`
}

// Help is printed by --help.
func (*flowsShowCmd) Help() string {
	return `STATE of a step is done, failed, begun or timed out; "ending" says why the flow fails.
What steps returned is in --json.`
}

// Run shows a flow.
func (c *flowsShowCmd) Run(ctx context.Context, a *app, g *options) error {
	var found *flow.Info
	err := g.eachFlow(ctx, []string{c.ID}, func(flows *flow.Flows, id outbox.MessageID) (err error) {
		found, err = flows.Get(ctx, id)
		return err
	})
	switch {
	case err != nil:
		return err
	case g.JSON:
		return a.printJSON(found)
	}
	if err := a.printMessage(found.Info, nil); err != nil {
		return err
	}
	if text := waitsFor(found); text != "" {
		fmt.Fprintf(a.stdout, "\nwaits for %s\n", terminal.CleanText(text))
	}
	if err := a.printEvents("STEP", found.Steps); err != nil {
		return err
	}
	return a.printEvents("SIGNAL", found.Signals)
}

// printEvents prints steps or signals, if there are any.
func (a *app) printEvents(head string, events []flow.Event) error {
	if len(events) == 0 {
		return nil
	}
	var t terminal.Table
	t.Row(head, "STATE", "AT", "ATTEMPTS", "DATA")
	for i := range events {
		e := &events[i]
		data, attempts := engine.Several(len(e.Data), "byte"), ""
		if e.State == "failed" || e.State == "ending" {
			data = string(e.Data)
		}
		if e.Attempts > 0 {
			attempts = strconv.Itoa(e.Attempts)
		}
		t.Row(e.Name, e.State, stamp(e.At), attempts, data)
	}
	fmt.Fprintln(a.stdout)
	return t.Write(a.stdout, terminal.Width(a.stdout))
}

// flowsSignalCmd is "pawl flows signal".
type flowsSignalCmd struct {
	ID   string `arg:"" help:"Id of the flow."`
	Name string `arg:"" help:"Name of the signal."`
	Data string `default:"null" placeholder:"JSON" help:"What the signal says, at most 64 KiB. Default: ${default}."`
}

// Help is printed by --help.
func (*flowsSignalCmd) Help() string {
	return `The flow takes the signal when it asks for it; one that waits goes on at once.

Example:

    pawl flows signal 0198c9a0-5d7e-8a41-9c3f-000000000001 approval --data '{"By":"ann"}'`
}

// Run sends a signal.
func (c *flowsSignalCmd) Run(ctx context.Context, a *app, g *options) error {
	return g.eachFlow(ctx, []string{c.ID}, func(flows *flow.Flows, id outbox.MessageID) error {
		if err := flows.Signal(ctx, id, c.Name, []byte(c.Data)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(a.stdout, "%s  sent\n", id)
		return err
	})
}

// flowsCancelCmd is "pawl flows cancel".
type flowsCancelCmd struct {
	IDs []string `arg:"" name:"id" help:"Ids of flows."`
}

// Help is printed by --help.
func (*flowsCancelCmd) Help() string {
	return `A worker undoes what the flow did, in reverse order, and ends it as discarded, with reason
"cancelled". The context of a step that is running ends within a second. A flow that is over stays as it is.

Example:

    pawl flows cancel 0198c9a0-5d7e-8a41-9c3f-000000000001`
}

// Run cancels flows.
func (c *flowsCancelCmd) Run(ctx context.Context, a *app, g *options) error {
	return g.eachFlow(ctx, c.IDs, func(flows *flow.Flows, id outbox.MessageID) error {
		text := "to be cancelled"
		err := flows.Cancel(ctx, id)
		if errors.Is(err, flow.ErrOver) {
			text, err = "was over already", nil
		}
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "%s  %s\n", id, text)
		}
		return err
	})
}
