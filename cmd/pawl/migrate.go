package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
)

// migrateCmd is "pawl migrate".
type migrateCmd struct {
	Grants   []string `placeholder:"ROLE=USER" sep:"none" help:"Give a user of the server what a producer, worker, operator, viewer or (PostgreSQL) migrator needs. Repeatable."`
	Canary   string   `placeholder:"KEY" help:"With --fleet: the store to migrate first and alone. If that fails, no other is touched. Default: the first by key."`
	Parallel int      `placeholder:"N" help:"With --fleet: stores to migrate at once. Default: 8."`
	schemaFlags
}

// Help is printed by --help.
func (*migrateCmd) Help() string {
	return `Safe to run at any time and by any number of processes at once.

In a new SQLite file "enqueue", "work", "timers add", "jobs put" and "lease run"
make the tables by themselves. On a server, and in a file that has tables of
yours, they want this command first (or --migrate).

With --fleet, all stores of a fleet are migrated, and what became of each is said.
Those that failed can be tried again: run it once more.

With --grants, users of the server get the rights of a role of pawl's, in the schema as
it is then: give the same again with every migration, for new tables. Roles are
"producer" (enqueues, reads no payload), "worker", "operator", "viewer", and
"migrator" (PostgreSQL), which owns the tables from then on. See docs/security.md.

Teams that apply migrations with a tool of their own let it run what --print prints:
all of the schema, or with --from what came after a version. It holds everything that
this command would do, so that both can be mixed. --status shows what a database has,
--check says by its exit code whether this build can use it. --baseline is for tables
that came without pawl's notes of them, as in a dump of the schema alone: it compares
them with what pawl would make and notes them as applied. See docs/upgrading.md.

Examples:

    pawl migrate
    pawl migrate --check
    pawl --db postgres://db.example/shop migrate --print --format goose > 00042_pawl.sql
    pawl migrate --grants producer=shop --grants worker=shop_worker
    pawl --db postgres://app@db.example/shop migrate
    pawl migrate --fleet dir:tenants --canary test-tenant`
}

// Run migrates the schema, or does what else its flags ask for.
func (c *migrateCmd) Run(ctx context.Context, a *app, g *options) error {
	switch {
	case !c.Print && (c.Format != "" || c.From != 0 || c.To != 0):
		return usage("--format, --from and --to go with --print")
	case c.asked():
		return c.runSchema(ctx, a, g)
	case g.wholeFleet() && len(c.Grants) > 0:
		return usage("--grants is about one database: name a store of the fleet with --store")
	case g.wholeFleet():
		return c.migrateFleet(ctx, a, g)
	case c.Canary != "", c.Parallel != 0:
		return usage("--canary and --parallel go with --fleet")
	}
	return c.migrateOne(ctx, a, g)
}

func (c *migrateCmd) migrateOne(ctx context.Context, a *app, g *options) error {
	grants, err := c.grants()
	if err != nil {
		return err
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
	if err := s.close(s.migrateFor(ctx, grants)); err != nil {
		return err
	}
	return a.printMigrated(g, s.name, before != nil, grants)
}

func (a *app) printMigrated(g *options, name string, changed bool, grants []engine.Grant) error {
	if g.JSON {
		return a.printJSON(struct {
			Database string `json:"database"`
			Changed  bool   `json:"changed"`
		}{name, changed})
	}
	text := "is up to date"
	if changed {
		text = "was migrated"
	}
	_, err := fmt.Fprintf(a.stdout, "%s %s\n", terminal.Clean(name), text)
	for _, granted := range grants {
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "%s has the rights of a %s\n", terminal.Clean(granted.To), granted.Role)
		}
	}
	return err
}

// grants reads --grants. Whether the engine has the role is known when it is open.
func (c *migrateCmd) grants() (grants []engine.Grant, err error) {
	for _, text := range c.Grants {
		role, user, ok := strings.Cut(text, "=")
		if !ok || user == "" {
			return nil, usage("--grants: want ROLE=USER, as in producer=shop")
		}
		grants = append(grants, engine.Grant{Role: engine.Role(role), To: user})
	}
	return grants, nil
}

// migrateFor migrates and gives rights, on an engine that has users.
func (s *store) migrateFor(ctx context.Context, grants []engine.Grant) error {
	db, ok := engine.As[engine.Granter](s.DB)
	for _, g := range grants {
		switch {
		case !ok:
			return usage("--grants is for servers: who may use a SQLite file is the file system's to say")
		case !slices.Contains(db.Roles(), g.Role):
			return usage("--grants: want ROLE=USER, with a role of %v", db.Roles())
		}
	}
	if err := s.Migrate(ctx); err != nil || len(grants) == 0 {
		return err
	}
	return db.Grant(ctx, grants...)
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
