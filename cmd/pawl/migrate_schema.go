package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
)

// schemaFlags are what "pawl migrate" does in place of migrating.
type schemaFlags struct {
	Print    bool   `help:"Print the schema as SQL, for another tool to run in one transaction. Nothing is changed, and no server is asked."`
	Format   string `enum:",sql,goose" default:"" placeholder:"FORMAT" help:"With --print: sql (default; also for golang-migrate, as NNN_pawl.up.sql, and Atlas), or goose."`
	From     int    `placeholder:"VERSION" help:"With --print: what came after this version of the schema."`
	To       int    `placeholder:"VERSION" help:"With --print: up to this version. Default: the newest."`
	Status   bool   `help:"Show which versions of the schema the database has, and what migrating would do."`
	Check    bool   `help:"Say whether this build can use the database as it is: exit code 1 if it cannot."`
	Baseline bool   `help:"Note tables that were made by hand as applied, if they are as pawl would have made them."`
}

// asked reports whether there is something to do in place of migrating.
func (c *schemaFlags) asked() bool { return c.Print || c.Status || c.Check || c.Baseline }

// runSchema does what the flags ask for.
func (c *migrateCmd) runSchema(ctx context.Context, a *app, g *options) error {
	if err := c.alone(g); err != nil {
		return err
	}
	t, err := g.target(ctx)
	if err != nil {
		return err
	}
	switch {
	case c.Print:
		return c.print(a.stdout, t)
	case !t.Exists():
		return fmt.Errorf("%s does not exist: make it with \"pawl migrate\", or name another with --db", t)
	}
	db, err := t.Open(opening{}.Options)
	if err != nil {
		return &databaseError{t.String(), err}
	}
	s := &store{db, t.String()}
	m, ok := engine.As[engine.Migrator](s)
	if !ok {
		return s.close(usage("%s has no scripts", s.name))
	}
	if c.Baseline {
		err = m.Baseline(ctx)
	}
	if err == nil {
		err = c.tell(ctx, a, g, s, m)
	}
	return s.close(err)
}

// alone refuses what does not go together.
func (c *migrateCmd) alone(g *options) error {
	chosen := 0
	for _, flag := range []bool{c.Print, c.Status, c.Check, c.Baseline} {
		if flag {
			chosen++
		}
	}
	switch {
	case chosen > 1 || len(c.Grants) > 0 || c.Canary != "" || c.Parallel != 0:
		return usage("--print, --status, --check and --baseline each go alone")
	case g.wholeFleet():
		return usage("--print, --status, --check and --baseline are about one database: name a store of the fleet with --store")
	}
	return nil
}

// print writes the schema in a tool's format.
func (c *schemaFlags) print(w io.Writer, t target.Target) error {
	text, database, err := t.Script(c.From, c.To)
	if err != nil {
		return err
	}
	if c.Format == "goose" {
		text = engine.GooseFile(text, database)
	}
	_, err = io.WriteString(w, text)
	return err
}

// schemaView is the state of a schema as JSON.
type schemaView struct {
	Database   string     `json:"database"`
	Version    int        `json:"version"`
	Program    int        `json:"program"`
	Lowest     int        `json:"lowest_program"`
	Usable     bool       `json:"usable"`
	Newer      bool       `json:"newer"`
	Problem    string     `json:"problem,omitempty"`
	Migrations []stepView `json:"migrations"`
	Objects    []string   `json:"objects"`
}

type stepView struct {
	Version   int        `json:"version"`
	Name      string     `json:"name"`
	AppliedAt *time.Time `json:"applied_at"`
}

// tell says how the schema is, in more words with --status.
func (c *schemaFlags) tell(ctx context.Context, a *app, g *options, s *store, m engine.Migrator) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	status, err := m.SchemaStatus(ctx)
	if err != nil {
		return err
	}
	if g.JSON {
		err = a.printJSON(viewSchema(s.name, &status))
	} else {
		err = c.printStatus(a.stdout, s, &status)
	}
	if c.Check && status.Err != nil {
		return errors.Join(&exitError{exitFailure, nil}, err)
	}
	return err
}

func viewSchema(name string, s *engine.SchemaStatus) schemaView {
	v := schemaView{
		Database: name, Version: s.Database, Program: s.Program, Lowest: s.Lowest, Usable: s.Err == nil, Newer: s.Newer,
		Migrations: []stepView{}, Objects: append([]string{}, s.Objects...),
	}
	if s.Err != nil {
		v.Problem = s.Err.Error()
	}
	for _, one := range s.Migrations {
		m := stepView{Version: one.Version, Name: one.Name}
		if !one.At.IsZero() {
			m.AppliedAt = &one.At
		}
		v.Migrations = append(v.Migrations, m)
	}
	return v
}

func (c *schemaFlags) printStatus(w io.Writer, s *store, status *engine.SchemaStatus) error {
	verdict := "as this build needs it"
	switch {
	case status.Err != nil:
		verdict = status.Err.Error()
	case status.Newer:
		verdict = fmt.Sprintf("of a newer program, which this one (version %d) may use", status.Program)
	}
	_, err := fmt.Fprintf(w, "%s: version %d, %s\n", terminal.Clean(s.name), status.Database, verdict)
	if !c.Status {
		return err
	}
	for _, m := range status.Migrations {
		at := "pending"
		if !m.At.IsZero() {
			at = "applied " + stamp(m.At)
		}
		_, failure := fmt.Fprintf(w, "  %4d  %-20s  %s\n", m.Version, terminal.Clean(m.Name), at)
		err = cmp.Or(err, failure)
	}
	if n := len(status.Objects); n > 0 {
		_, failure := fmt.Fprintf(w, "  %s would be created again\n", engine.Several(n, "object"))
		err = cmp.Or(err, failure)
	}
	return err
}
