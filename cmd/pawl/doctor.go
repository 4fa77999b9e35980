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
	"github.com/bravellian/pawl/internal/engine"
)

// doctorCmd is "pawl doctor".
type doctorCmd struct {
	Fix     bool          `help:"Repair what can be repaired: counters of joins, ordering keys that are stuck, messages in no place. It reads all joins and messages."`
	Timeout time.Duration `default:"5s" placeholder:"DURATION" help:"How long each check may take. Default: ${default}."`
}

// Help is printed by --help.
func (*doctorCmd) Help() string {
	return `Every check finds something: ok, a note, a warning, or a problem. What is not ok
comes with the figures that were seen and with what to do about it. Without --fix
nothing is changed.

The exit code is 0 if there is no problem, warnings or not, and 1 if there is one,
or if the database cannot be reached.

With --fleet all stores of a fleet are examined, and there is a report for each;
with --store one of them.
With --json a report is a line.

Examples:

    pawl doctor
    pawl --db postgres://app@db.example/shop doctor --json
    pawl doctor --fix
    pawl doctor --fleet dir:tenants`
}

// report is what was found of one database, also as JSON.
type report struct {
	Store    string `json:"store,omitempty"`
	Database string `json:"database"`
	health.Report
}

// Run examines one database or a fleet.
func (c *doctorCmd) Run(ctx context.Context, a *app, g *options) error {
	if c.Timeout <= 0 {
		return usage("--timeout: not above zero")
	}
	var reports []report
	var err error
	if g.wholeFleet() {
		reports, err = c.fleet(ctx, g)
	} else {
		var t target.Target
		if t, err = g.target(ctx); err == nil {
			reports = []report{c.examine(ctx, t, t.String(), nil)}
			reports[0].Store = g.Store
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return a.printReports(reports, g.JSON)
}

// fleet examines all stores of a fleet.
func (c *doctorCmd) fleet(ctx context.Context, g *options) ([]report, error) {
	return askStores(ctx, g, func(e *entry) report {
		r := c.examine(ctx, e.at, e.Where(access.Key{}), e.err)
		r.Store = e.Key
		return r
	})
}

// examine examines one database, unless flaw says why it can be none.
func (c *doctorCmd) examine(ctx context.Context, t target.Target, name string, flaw error) report {
	r := report{Database: name}
	switch {
	case flaw != nil:
		r.Report = unreachable("connection", flaw.Error(), flaw)
	case !t.Exists(): // opening would make it
		r.Report = unreachable("connection", target.ErrNoFile.Error(), target.ErrNoFile)
	default:
		db, err := t.Open(target.Options{Logger: silent(), Modest: true})
		if err != nil {
			r.Report = unreachable("connection", cause(err), err)
			break
		}
		r.Report = components(db, silent()).Admin.ExamineWith(ctx, access.Key{}, engine.ExamineOptions{Timeout: c.Timeout, Fix: c.Fix})
		_ = db.Close() // what was repaired is committed
	}
	return r
}

// unreachable reports a database that could not even be opened, as what a check of that
// code found. cause is err in words without a password.
func unreachable(code, cause string, err error) health.Report {
	return health.NewReport([]health.Finding{engine.CodedFinding(health.Problem, code, cause, engine.ConnectAdvice(err))})
}

// printReports prints what was found. A problem is no error of the command's, and
// said already: it has the exit code alone.
func (a *app) printReports(list []report, asJSON bool) error {
	worst := health.OK
	for i := range list {
		worst = max(worst, list[i].Level)
		print := a.printReport
		if asJSON {
			print = func(r *report, _ bool) error { return a.printJSON(r) }
		}
		if err := print(&list[i], i > 0); err != nil {
			return err
		}
	}
	if worst == health.Problem {
		return &exitError{code: exitFailure}
	}
	return nil
}

// printReport prints a report for people: a line for each finding, and below it
// what to do.
func (a *app) printReport(r *report, another bool) error {
	var out strings.Builder
	if another {
		out.WriteByte('\n')
	}
	if r.Store != "" {
		fmt.Fprintf(&out, "%s: ", terminal.Clean(r.Store))
	}
	fmt.Fprintf(&out, "%s\n", terminal.Clean(r.Database))
	in := map[health.Level]int64{}
	for i := range r.Findings {
		f := &r.Findings[i]
		in[f.Level]++
		fmt.Fprintf(&out, "%-7s  %-11s  %s\n", f.Level, f.Code, terminal.Clean(f.Summary))
		if f.NextStep != "" {
			fmt.Fprintf(&out, "%-7s  %-11s  -> %s\n", "", "", terminal.Clean(oneLine(f.NextStep)))
		}
	}
	fmt.Fprintf(&out, "%s, %s, %s\n", engine.Several(in[health.Problem], "problem"), engine.Several(in[health.Warning], "warning"), engine.Several(in[health.Note], "note"))
	_, err := a.stdout.Write([]byte(out.String()))
	return err
}
