package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/checker"
	"github.com/bravellian/pawl/internal/engine"
)

// healthCmd is "pawl health".
type healthCmd struct {
	ExitCode bool          `help:"Make the exit code 1 if something fails."`
	Waiting  time.Duration `default:"1m" placeholder:"DURATION" help:"How long work may be due that nobody claims. Default: ${default}."`
	Queue    []string      `sep:"none" placeholder:"NAME" help:"Queue whose waiting work counts, may be repeated. Default: all."`
	Timeout  time.Duration `default:"5s" placeholder:"DURATION" help:"How long a database may take to answer. Default: ${default}."`
}

// Help is printed by --help.
func (*healthCmd) Help() string {
	return `Checks a database from outside: does it answer, does its schema fit this
program, and does work wait that nobody claims? Each check is a line:

    [+]  well
    [!]  a warning
    [-]  a failure

Work waits for too long if it has been due for --waiting. That is a failure if no
worker of its queue is alive and nobody holds or finished messages of it of late,
and a warning if one is alive: a single check cannot tell whether it claims. A
worker knows more, see "pawl work --listen". Messages that failed, that are due
later, or whose topic or queue is paused are never a failure.

Exit codes: 0 whatever was found; with --exit-code 0 if nothing failed, warnings
included, and 1 otherwise. 2 is wrong usage, as always. With --fleet every store is
checked, and one that fails is enough.

Examples:

    pawl health
    pawl health --exit-code --db postgres://app@db.example/shop
    pawl health --fleet dir:tenants --json`
}

// Run checks a database, or all of a fleet.
func (c *healthCmd) Run(ctx context.Context, a *app, g *options) error {
	switch {
	case c.Timeout <= 0:
		return usage("--timeout: not above zero")
	case c.Waiting <= 0:
		return usage("--waiting: not above zero")
	}
	check := c.one
	if g.wholeFleet() {
		check = c.all
	}
	found, err := check(ctx, g)
	if err != nil {
		return err
	}
	if err := a.printHealth(found, g.JSON); err != nil {
		return err
	}
	for i := range found {
		if c.ExitCode && !found[i].Healthy() {
			return &exitError{code: exitFailure} // what is wrong was said
		}
	}
	return nil
}

func (c *healthCmd) one(ctx context.Context, g *options) ([]report, error) {
	t, err := g.target(ctx)
	if err != nil {
		return nil, err
	}
	r := c.inspect(ctx, t)
	return []report{{Database: t.String(), Report: r}}, ctx.Err()
}

func (c *healthCmd) all(ctx context.Context, g *options) ([]report, error) {
	return askStores(ctx, g, func(e *entry) report {
		found := report{Store: e.Key, Database: e.Where(access.Key{})}
		if e.err != nil {
			found.Report = unopened(e.err)
		} else {
			found.Report = c.inspect(ctx, e.at)
		}
		return found
	})
}

// inspect checks a database. It does not create one.
func (c *healthCmd) inspect(ctx context.Context, t target.Target) health.Report {
	if !t.Exists() {
		return unopened(target.ErrNoFile)
	}
	db, err := t.Open(target.Options{Timeout: c.Timeout, Logger: silent(), Modest: true})
	if err != nil {
		return unopened(err)
	}
	defer func() { _ = db.Close() }() // nothing was written
	return checker.Inspect(ctx, db, health.Options{Timeout: c.Timeout, Waiting: c.Waiting, Queues: c.Queue})
}

// unopened is the report of a database that cannot be opened.
func unopened(err error) health.Report {
	return unreachable("database", "the database cannot be opened: "+cause(err), err)
}

func (a *app) printHealth(found []report, asJSON bool) error {
	if asJSON {
		return printAll(a, found, func(r report) report { return r })
	}
	for i := range found {
		if _, err := fmt.Fprint(a.stdout, terminal.CleanText(found[i].text())); err != nil {
			return err
		}
	}
	if len(found) == 1 && found[0].Store == "" {
		return nil
	}
	bad := 0
	for i := range found {
		if !found[i].Healthy() {
			bad++
		}
	}
	_, err := fmt.Fprintf(a.stderr, "%s, %d of them failing\n", engine.Several(len(found), "store"), bad)
	return err
}

// text is a report for people: of a store only what is not well.
func (r *report) text() string {
	if r.Store == "" {
		end := "passed"
		if !r.Healthy() {
			end = "failed"
		}
		return fmt.Sprintf("%s\nhealth check %s\n", r.Report, end)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", oneLine(r.Store), r.Level)
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Level != health.OK {
			fmt.Fprintf(&b, "    %s\n", health.Report{Findings: r.Findings[i : i+1]})
		}
	}
	return b.String()
}
