package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/engine"
)

// migrateCmd is "pawl migrate".
type migrateCmd struct{}

// Help is printed by --help.
func (*migrateCmd) Help() string {
	return `Safe to run at any time and by any number of processes at once.

Commands that write make their tables in a new SQLite file by themselves. In
PostgreSQL, and in a file that has tables of yours, they wait for this command
(or for --migrate).`
}

// Run migrates the schema.
func (*migrateCmd) Run(ctx context.Context, a *app, g *options) error {
	t, err := g.target()
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
