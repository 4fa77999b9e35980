package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/fleet"
)

// fleetCmd is "pawl fleet".
type fleetCmd struct {
	Ls     fleetLsCmd     `cmd:"" aliases:"list" help:"List the stores of a fleet."`
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
                        begins a comment, "-" stands for no schema.
    table:URL           a table in a database: what --fleet-query returns.

Stores that name no schema or prefix have those of --schema and --prefix. "pawl
work" reads the list again every few minutes.

"pawl migrate" and "pawl work" take a fleet as well.

Examples:

    pawl fleet status --fleet 'dir:tenants/*.db'
    pawl migrate --fleet list:stores.txt --canary test-tenant
    pawl work --fleet table:postgres://app@db.example/control --topic mail --exec ./send-mail.sh`

// fleetFlags name a fleet.
type fleetFlags struct {
	Fleet      string `placeholder:"WHERE" help:"Fleet of databases: dir:PATH[/PATTERN], list:FILE or table:URL; see \"pawl fleet --help\"."`
	FleetQuery string `placeholder:"SQL" help:"Query of table:URL, which returns key and URL of every store and, if it has more columns, schema and prefix. Default: SELECT key, url FROM pawl_stores."`
}

// named reports whether a fleet is what the command is for, and refuses a command
// line that names a database as well. One in PAWL_DB is that of other commands.
func (c *fleetFlags) named(k *kong.Context) (bool, error) {
	switch {
	case c.Fleet == "" && c.FleetQuery != "":
		return false, usage("--fleet-query goes with --fleet")
	case c.Fleet != "" && given(k, "db"):
		return false, usage("--db and --fleet can't be used together")
	}
	return c.Fleet != "", nil
}

// given reports whether an option stands on the command line itself.
func given(k *kong.Context, name string) bool {
	return slices.ContainsFunc(k.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == name })
}

// required is named for commands that are for fleets alone.
func (c *fleetFlags) required(k *kong.Context) error {
	named, err := c.named(k)
	if err == nil && !named {
		err = usage("missing flags: --fleet=WHERE")
	}
	return err
}

// open is the fleet that --fleet names.
func (c *fleetFlags) open(g *options) (target.Fleet, error) {
	f, err := target.ParseFleet(c.Fleet, c.FleetQuery, engine.Names{Schema: g.Schema, Prefix: g.Prefix})
	if err != nil {
		return f, usage("--fleet: %w", err)
	}
	return f, nil
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

// several is a number of things.
func several[T int | int64](n T, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
