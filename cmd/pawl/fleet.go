package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
)

// fleetCmd is "pawl fleet".
type fleetCmd struct {
	Ls     fleetLsCmd     `cmd:"" aliases:"list" help:"List the stores of a fleet."`
	Move   fleetMoveCmd   `cmd:"" help:"Move a store to another database."`
	Status fleetStatusCmd `cmd:"" help:"Ask every store how it is and what it holds."`
}

// Help is printed by --help.
func (*fleetCmd) Help() string { return fleetHelp }

const fleetHelp = `A fleet is many databases, each a store with a key of its own. --fleet says where
they are listed:

    dir:PATH[/PATTERN]  all SQLite files in a directory, those that match *.db
                        unless it says otherwise. Their names without the ending
                        are the keys.
    list:FILE           a line for every store: KEY URL [SCHEMA [PREFIX]]. A "#"
                        begins a comment, "-" stands for no schema. What has
                        blanks, and an ADO.NET string, stands in single
                        quotes, doubled inside.
    table:URL           a table in a database: what --fleet-query returns.

Stores that name no schema or prefix have those of --schema and --prefix. "pawl
work" reads the list again every few minutes.

Commands that change or read many stores take a fleet as well: migrate, work,
pause, resume and more, as their help says. All others take one store of it:
--fleet WHERE --store KEY in place of --db.

Examples:

    pawl fleet status --fleet 'dir:tenants/*.db'
    pawl migrate --fleet list:stores.txt --canary test-tenant
    pawl ls --failed --fleet list:stores.txt --store tenant-7
    pawl work --fleet table:postgres://app@db.example/control --topic mail --exec ./send-mail.sh`

// settle checks what was said about the database. A fleet in PAWL_FLEET gives way to
// a database on the command line.
func (g *options) settle(k *kong.Context) error {
	if given(k, "db") && !given(k, "fleet") {
		g.Fleet = ""
	}
	switch {
	case g.Fleet == "" && g.FleetQuery != "" && given(k, "fleet-query"):
		return usage("--fleet-query goes with --fleet")
	case g.Fleet == "" && g.Store != "" && given(k, "store"):
		return usage("--store goes with --fleet")
	case g.Fleet != "" && given(k, "db"):
		return usage("--db and --fleet can't be used together")
	}
	if err := engine.CheckText("--reason", g.Reason, limits.Reason, false); err != nil {
		return usage("%w", err)
	}
	// Handlers of a fleet's worker have a store in their environment.
	if g.Fleet == "" || strings.HasPrefix(k.Command(), "fleet ") && !given(k, "store") {
		g.Store = ""
	}
	return nil
}

// given reports whether an option stands on the command line itself.
func given(k *kong.Context, name string) bool {
	return slices.ContainsFunc(k.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == name })
}

// wholeFleet reports whether the command is about all stores of a fleet.
func (g *options) wholeFleet() bool { return g.Fleet != "" && g.Store == "" }

// requireFleet is for commands that are about fleets alone.
func (g *options) requireFleet() error {
	switch {
	case g.Fleet == "":
		return usage("missing flags: --fleet=WHERE")
	case g.Store != "":
		return usage("--store: this command is about all stores of a fleet")
	}
	return nil
}

// openFleet is the fleet that --fleet names.
func (g *options) openFleet() (target.Fleet, error) {
	f, err := target.ParseFleet(g.Fleet, g.FleetQuery, engine.Names{Schema: g.Schema, Prefix: g.Prefix})
	if err != nil {
		return f, usage("--fleet: %w", err)
	}
	return f, nil
}

// storeTarget is the store that --store names.
func (g *options) storeTarget(ctx context.Context) (t target.Target, err error) {
	e, err := g.entryOf(ctx, g.Store)
	if err != nil {
		return t, err
	}
	return e.at, e.err
}

// entryOf is the fleet's entry of a key.
func (g *options) entryOf(ctx context.Context, key string) (e entry, err error) {
	f, err := g.openFleet()
	if err != nil {
		return e, err
	}
	list, err := stores(ctx, f)
	if err != nil {
		return e, err
	}
	for _, e := range list {
		if e.Key == key {
			return e, nil
		}
	}
	return e, fmt.Errorf("%w: %q is not in %s", fleet.ErrUnknownStore, key, f)
}

// entry is a database of a fleet's list. err says why it can be none of the stores.
type entry struct {
	fleet.Database
	at  target.Target
	err error
}

var errTwice = errors.New("the list names two different databases by this key")

// entries reads the list, by key.
func entries(ctx context.Context, f target.Fleet) ([]entry, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	dbs, err := f.Discover(ctx)
	if err != nil {
		return nil, &databaseError{f.String(), err}
	}
	slices.SortStableFunc(dbs, func(a, b fleet.Database) int { return cmp.Compare(a.Key, b.Key) })
	var list []entry
	for _, d := range slices.Compact(dbs) {
		if n := len(list); n > 0 && list[n-1].Key == d.Key {
			list[n-1].err = errTwice
			continue
		}
		e := entry{Database: d}
		e.at, e.err = target.Store(&d)
		list = append(list, e)
	}
	return list, nil
}

// stores is entries for those to whom a fleet without any is a mistake.
func stores(ctx context.Context, f target.Fleet) ([]entry, error) {
	list, err := entries(ctx, f)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s lists no store", f)
	}
	return list, err
}

// flawed are the entries that can be no stores.
func flawed(list []entry) []entry {
	return slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return e.err == nil })
}

// inParallel calls do for 0 … n-1, a number of them at once, until ctx ends.
func inParallel(ctx context.Context, n, atOnce int, do func(i int)) error {
	free := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	defer running.Wait()
	for i := range n {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		running.Go(func() {
			defer func() { <-free }()
			do(i)
		})
	}
	return nil
}

// silent is the logger of commands that say themselves what matters.
func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }
