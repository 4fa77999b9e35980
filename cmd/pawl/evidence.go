package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/evidence"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
)

// evidenceCmd is "pawl evidence".
type evidenceCmd struct {
	Load time.Duration `default:"20s" placeholder:"DURATION" help:"How long eight workers handle messages for a rate. Default: ${default}."`
}

// Help is printed by --help.
func (*evidenceCmd) Help() string {
	return `Tests in five minutes at most what pawl promises on a database: two sessions
claim, transactions roll back, block and deadlock, every statement runs. It makes a
schema of its own, or for SQLite a file beside the database, and removes it, also
after Ctrl-C. The user needs the right to create a schema; nothing else is touched.

The report is Markdown without names of hosts, users and databases. Put it into an
issue if anything failed, and for SQL Server in any case. The exit code is 1 if a
check failed.

Examples:

    pawl evidence --db 'sqlserver://sa:password@host?database=test'
    pawl evidence --db postgres://app@db.example/shop >report.md`
}

// evidenceLimit bounds all of it, and removalLimit what comes behind.
const (
	evidenceLimit = 5 * time.Minute
	removalLimit  = time.Minute
)

// evidenceReport is what is printed, also as JSON.
type evidenceReport struct {
	Pawl    string            `json:"pawl"`
	System  string            `json:"system"`
	Server  string            `json:"server"`
	Results []evidence.Result `json:"results"`
}

// Run tests a database.
func (c *evidenceCmd) Run(ctx context.Context, a *app, g *options) error {
	if c.Load <= 0 || c.Load > evidenceLimit {
		return usage("--load: not above zero, or more than %v", evidenceLimit)
	}
	t, err := g.target(ctx)
	if err != nil {
		return err
	}
	name := "pawl_evidence_" + strings.ToLower(rand.Text()[:12])
	own := t.Scratch(name)
	fmt.Fprintf(a.stderr, "testing in %s, which is removed at the end\n", name)
	r, err := c.test(ctx, t, own, name)
	if removed := remove(ctx, own); removed != nil {
		err = errors.Join(err, fmt.Errorf("%s is left, remove it: %w", name, removed))
	}
	if len(r.Results) > 0 {
		err = errors.Join(a.printEvidence(&r, g.JSON), err)
	}
	if err != nil {
		return &databaseError{t.String(), err}
	}
	for _, found := range r.Results {
		if found.Outcome == evidence.Failed {
			return &exitError{code: exitFailure} // it was said
		}
	}
	return nil
}

func (c *evidenceCmd) test(ctx context.Context, t, own target.Target, name string) (r evidenceReport, err error) {
	limited, cancel := context.WithTimeout(ctx, evidenceLimit)
	defer cancel()
	o := evidence.Options{
		Open:  func() (engine.DB, error) { return own.Open(target.Options{Logger: silent()}) },
		Hide:  func(text string) string { return t.Hide(own.Hide(text)) },
		Table: func(table string) string { return table },
		Load:  c.Load,
	}
	if _, isFile := own.File(); !isFile {
		o.Schema, o.Table = name, func(table string) string { return name + "." + table }
	}
	r = evidenceReport{Pawl: version(), System: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH}
	r.Server, r.Results, err = evidence.Run(limited, o)
	r.Server = o.Hide(r.Server)
	return r, err
}

// remove removes what the test has made, also when it was interrupted.
func remove(ctx context.Context, own target.Target) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalLimit)
	defer cancel()
	return own.RemoveScratch(ctx)
}

func (a *app) printEvidence(r *evidenceReport, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n\n%s\n\n| check | outcome | detail |\n|---|---|---|\n", r.Pawl, r.System, r.Server)
	for _, found := range r.Results {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", found.Check, found.Outcome, strings.ReplaceAll(oneLine(found.Detail), "|", `\|`))
	}
	_, err := fmt.Fprint(a.stdout, terminal.CleanText(b.String()))
	return err
}
