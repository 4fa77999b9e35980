package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	why "github.com/bravellian/pawl/explain"
)

// explainCmd is "pawl explain".
type explainCmd struct {
	ID   string   `arg:"" help:"Message id or position, timer id or key, name of a job, run id, join id, or SOURCE/ID of the inbox."`
	Kind []string `sep:"," enum:"message,timer,job,run,join,inbox" placeholder:"KIND" help:"Only look for a message, timer, job, run, join, or message of the inbox."`
}

// Help is printed by --help.
func (*explainCmd) Help() string {
	return `It says first what would hold it even if all else went away: a pause before a time,
a time before a worker that is missing. What depends on something else (a join on
its steps, a fired timer on its message) comes with that.

Workers are those that "pawl workers" lists. A program that claims messages by
itself is not among them.

The exit code is 1 if nothing goes by the id.

Examples:

    pawl explain 0198c9a0-5d7e-8a41-9c3f-000000000001
    pawl explain order-17 --kind timer
    pawl explain nightly-report --json | jq -r .reason
    pawl explain shop/4711`
}

// Run explains what an id names.
func (c *explainCmd) Run(ctx context.Context, a *app, g *options) error {
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	x, err := c.ask(ctx, s)
	if err := s.close(err); err != nil {
		return err
	}
	if g.JSON {
		return a.printJSON(x)
	}
	return a.printExplanations(x)
}

func (c *explainCmd) ask(ctx context.Context, s *store) (*why.Explanation, error) {
	p, err := pawl.New(s, pawl.Options{Logger: silent()})
	if err != nil {
		return nil, err
	}
	kinds := make([]why.Kind, len(c.Kind))
	for i, k := range c.Kind {
		kinds[i] = why.Kind(k)
	}
	return p.Explain(ctx, c.ID, kinds...)
}

// printExplanations prints all that an id names.
func (a *app) printExplanations(x *why.Explanation) error {
	var out strings.Builder
	if err := writeExplanation(&out, x); err != nil {
		return err
	}
	for _, other := range x.Others {
		out.WriteByte('\n')
		if err := writeExplanation(&out, other); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(a.stdout, out.String())
	return err
}

func writeExplanation(out *strings.Builder, x *why.Explanation) error {
	fmt.Fprintf(out, "%s %s: %s\n", x.Kind, terminal.Clean(x.ID), x.Reason)
	writeHold(out, "", x.Hold)
	for _, h := range x.Also {
		writeHold(out, "besides, "+string(h.Reason)+": ", h)
	}
	out.WriteByte('\n')
	var t terminal.Table
	for _, f := range x.Facts {
		t.Row("  "+f.Key, f.Value)
	}
	if err := t.Write(out, 0); err != nil {
		return err
	}
	writeBecause(out, x, "  ")
	return nil
}

func writeHold(out *strings.Builder, lead string, h why.Hold) {
	fmt.Fprintln(out, terminal.Clean(lead+h.Sentence))
	if h.Next != "" {
		fmt.Fprintln(out, terminal.Clean("what helps: "+h.Next))
	}
}

// writeBecause writes what an explanation rests on, each below what needs it.
func writeBecause(out *strings.Builder, x *why.Explanation, indent string) {
	if len(x.Because) > 0 && indent == "  " {
		out.WriteString("\nbecause of\n")
	}
	for _, b := range x.Because {
		of := ""
		if topic := b.Facts.Get("topic"); topic != "" {
			of = " (" + topic + ")"
		}
		fmt.Fprintf(out, "%s%s %s%s: %s\n", indent, b.Kind, terminal.Clean(b.ID), terminal.Clean(of), b.Reason)
		for _, h := range append([]why.Hold{b.Hold}, b.Also...) {
			fmt.Fprintf(out, "%s  %s\n", indent, terminal.Clean(h.Sentence))
		}
		writeBecause(out, b, indent+"  ")
	}
}
