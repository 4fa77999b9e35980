package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// explainCmd is "pawl explain".
type explainCmd struct {
	ID   string   `arg:"" help:"Message id or position, timer id or key, name of a job, run id, join id, or SOURCE/ID of the inbox."`
	Kind []string `sep:"," enum:"message,timer,job,run,join,inbox" placeholder:"KIND" help:"Only find a message, timer, job, run, join, or message of the inbox."`
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
    pawl explain nightly-report --json | jq -r .code
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

func (c *explainCmd) ask(ctx context.Context, s *store) (*admin.Explanation, error) {
	p, err := pawl.New(s, pawl.Options{Logger: silent()})
	if err != nil {
		return nil, err
	}
	kinds := make([]admin.Kind, len(c.Kind))
	for i, k := range c.Kind {
		kinds[i] = admin.Kind(k)
	}
	return p.Explain(ctx, c.ID, kinds...)
}

// printExplanations prints all that an id names.
func (a *app) printExplanations(x *admin.Explanation) error {
	var out strings.Builder
	if err := writeExplanation(&out, x); err != nil {
		return err
	}
	for i := range x.AlsoMatches {
		out.WriteByte('\n')
		if err := writeExplanation(&out, &x.AlsoMatches[i]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(a.stdout, out.String())
	return err
}

func writeExplanation(out *strings.Builder, x *admin.Explanation) error {
	fmt.Fprintf(out, "%s %s: %s\n", x.Kind, terminal.Clean(x.ID), x.Code)
	writeFinding(out, "", x.Finding)
	for _, f := range x.Also {
		writeFinding(out, "besides, "+f.Code+": ", f)
	}
	out.WriteByte('\n')
	var t terminal.Table
	for _, f := range x.Facts {
		t.Row("  "+f.Key, f.Value)
	}
	if err := t.Write(out, 0); err != nil {
		return err
	}
	writeCauses(out, x, "  ")
	return nil
}

func writeFinding(out *strings.Builder, lead string, f admin.Finding) {
	fmt.Fprintln(out, terminal.Clean(lead+f.Summary))
	if f.NextStep != "" {
		fmt.Fprintln(out, terminal.Clean("what helps: "+f.NextStep))
	}
}

// writeCauses writes what an explanation rests on, each below what needs it.
func writeCauses(out *strings.Builder, x *admin.Explanation, indent string) {
	if len(x.Causes) > 0 && indent == "  " {
		out.WriteString("\nbecause of\n")
	}
	for i := range x.Causes {
		b := &x.Causes[i]
		of := ""
		if topic := b.Facts.Get("topic"); topic != "" {
			of = " (" + topic + ")"
		}
		fmt.Fprintf(out, "%s%s %s%s: %s\n", indent, b.Kind, terminal.Clean(b.ID), terminal.Clean(of), b.Code)
		for _, f := range append([]admin.Finding{b.Finding}, b.Also...) {
			fmt.Fprintf(out, "%s  %s\n", indent, terminal.Clean(f.Summary))
		}
		writeCauses(out, b, indent+"  ")
	}
}
