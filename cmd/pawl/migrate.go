package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/engine"
)

// migrateCmd is "pawl migrate".
type migrateCmd struct {
	Canary   string `placeholder:"KEY" help:"With --fleet: the store to migrate first and alone. If that fails, no other is touched. Default: the first by key."`
	Parallel int    `placeholder:"N" help:"With --fleet: stores to migrate at once. Default: 8."`
}

// Help is printed by --help.
func (*migrateCmd) Help() string {
	return `Safe to run at any time and by any number of processes at once.

In a new SQLite file "enqueue", "work", "timers add", "jobs put" and "lease run"
make the tables by themselves. In PostgreSQL, and in a file that has tables of
yours, they want this command first (or --migrate).

With --fleet, all stores of a fleet are migrated, and what became of each is said.
Those that failed can be tried again: run it once more.

Examples:

    pawl migrate
    pawl --db postgres://app@db.example/shop migrate
    pawl migrate --fleet dir:tenants --canary test-tenant`
}

// Run migrates the schema.
func (c *migrateCmd) Run(ctx context.Context, a *app, g *options) error {
	switch {
	case g.wholeFleet():
		return c.migrateFleet(ctx, a, g)
	case c.Canary != "", c.Parallel != 0:
		return usage("--canary and --parallel go with --fleet")
	}
	t, err := g.target(ctx)
	if err != nil {
		return err
	}
	db, err := t.Open(opening{}.Options)
	if err != nil {
		return &databaseError{t.String(), err}
	}
	s := &store{db, t.String()}
	before := s.check(ctx)
	if before != nil && !migratable(before) {
		return s.close(before)
	}
	if err := s.close(s.Migrate(ctx)); err != nil {
		return err
	}
	if g.JSON {
		return a.printJSON(struct {
			Database string `json:"database"`
			Changed  bool   `json:"changed"`
		}{s.name, before != nil})
	}
	text := "is up to date"
	if before != nil {
		text = "was migrated"
	}
	_, err = fmt.Fprintf(a.stdout, "%s %s\n", s.name, text)
	return err
}

// migrateFlag lets a command migrate before it begins.
type migrateFlag struct {
	Migrate bool `help:"Migrate the database first, if need be."`
}

// migratable reports whether an error of a schema check is one that migrating
// mends.
func migratable(err error) bool {
	return errors.Is(err, engine.ErrSchemaMissing) || errors.Is(err, engine.ErrSchemaOld)
}
