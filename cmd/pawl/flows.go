package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// flowsCmd is "pawl flows".
type flowsCmd struct {
	Show   flowsShowCmd   `cmd:"" help:"Show a flow with its steps, and what it waits for."`
	Signal flowsSignalCmd `cmd:"" help:"Send a flow a signal."`
	Cancel flowsCancelCmd `cmd:"" help:"End flows: what they did is undone."`
}

// Help is printed by --help.
func (*flowsCmd) Help() string {
	return `A flow is a message whose topic is "flow." and its name, and whose handler runs steps. What else is done
with messages is done with it by the commands for them:

    pawl ls --topic flow.checkout
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
	if w := found.Waits; w != nil {
		what := "nothing but time"
		if w.Name != "" {
			what = "signal " + w.Name
		}
		fmt.Fprintf(a.stdout, "\nwaits for %s since %s\n", terminal.CleanText(what), stamp(w.At))
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
	t.Row(head, "STATE", "AT", "DATA")
	for i := range events {
		e := &events[i]
		data := engine.Several(len(e.Data), "byte")
		if e.State == "failed" || e.State == "ending" {
			data = string(e.Data)
		}
		t.Row(e.Name, e.State, stamp(e.At), data)
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
	return `A worker undoes what the flow did, in reverse order, and ends it as failed, with reason
"cancelled". A step that is running ends first. A flow that is over stays as it is.

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
