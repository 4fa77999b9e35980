package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
)

// migrateFleet migrates all stores of a fleet.
func (c *migrateCmd) migrateFleet(ctx context.Context, a *app, g *options) error {
	if c.Parallel < 0 {
		return usage("--parallel: below zero")
	}
	where, err := g.openFleet()
	if err != nil {
		return err
	}
	list, err := stores(ctx, where)
	if err != nil {
		return err
	}
	r := &migrationReport{a: a, json: g.JSON, live: terminal.NewLive(a.stderr), stores: len(list), began: time.Now()}
	if g.JSON {
		r.live = terminal.NewLive(nil)
	}
	r.show()
	var dbs []fleet.Database
	for _, e := range list {
		if e.err != nil {
			r.add(fleetstate.Migration{Key: e.Key, Err: e.err})
			continue
		}
		dbs = append(dbs, e.Database)
	}
	if len(dbs) > 0 {
		err = c.migrateAll(ctx, dbs, r)
	}
	return r.end(err, len(list))
}

func (c *migrateCmd) migrateAll(ctx context.Context, dbs []fleet.Database, r *migrationReport) error {
	f, err := fleet.New(fleet.Static(dbs...), fleet.Options{Engines: target.Openers(true), Pawl: pawl.Options{Logger: silent()}})
	if err != nil {
		return err
	}
	err = f.Operator(access.Key{}).MigrateEach(ctx, fleetstate.Migrate{Parallel: c.Parallel, Canary: c.Canary, Each: r.add})
	return errors.Join(err, f.Close())
}

// migrationReport prints each store as it is migrated, and at the end again those that
// failed: among many they are easily missed.
type migrationReport struct {
	a      *app
	json   bool
	live   *terminal.Live
	stores int // in all
	done   int // of them
	began  time.Time
	failed []fleetstate.Migration
	wrong  error // of standard output
}

// migrationView is a migrated store as JSON.
type migrationView struct {
	Store   string  `json:"store"`
	OK      bool    `json:"ok"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
}

// add prints a store. It is called by one goroutine at a time.
func (r *migrationReport) add(m fleetstate.Migration) {
	v := migrationView{Store: m.Key, OK: m.Err == nil, Seconds: m.Took.Seconds()}
	if m.Err != nil {
		r.failed = append(r.failed, m)
		v.Error = cause(m.Err)
	}
	var err error
	if r.json {
		err = r.a.printJSON(v)
	} else {
		_, err = fmt.Fprintln(r.live.Through(r.a.stdout), v)
	}
	r.wrong = errors.Join(r.wrong, err)
	r.done++
	r.show()
}

// show shows on a terminal how many stores are done, and an estimate of the rest.
func (r *migrationReport) show() {
	rate := float64(r.done) / max(time.Since(r.began).Seconds(), 1e-3)
	done, all := int64(r.done), int64(r.stores)
	r.live.Show(fmt.Sprintf("%s %d of %s migrated%s", gauge(done, all), done, engine.Several(all, "store"), remaining(all-done, rate)))
}

// String is the view for people.
func (v migrationView) String() string {
	took := time.Duration(v.Seconds * float64(time.Second)).Round(time.Millisecond)
	text := fmt.Sprintf("%s  ok, took %v", v.Store, took)
	if !v.OK {
		text = fmt.Sprintf("%s  failed, took %v: %s", v.Store, took, v.Error)
	}
	return terminal.Clean(text)
}

// end reports on all of them. err is the migration's.
func (r *migrationReport) end(err error, stores int) error {
	r.live.Clear()
	switch {
	case r.wrong != nil:
		return r.wrong
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	case errors.Is(err, fleetstate.ErrCanary):
		last := r.failed[len(r.failed)-1]
		return fmt.Errorf("%w: %q: %s", fleetstate.ErrCanary, last.Key, cause(last.Err))
	case err != nil && len(r.failed) == 0, errors.Is(err, fleet.ErrUnknownStore):
		return err
	case len(r.failed) > 0:
		r.printFailed()
		return fmt.Errorf("%d of %s could not be migrated", len(r.failed), engine.Several(stores, "store"))
	case r.json:
		return nil
	}
	_, err = fmt.Fprintf(r.a.stdout, "%s up to date\n", engine.Several(stores, "store"))
	return err
}

func (r *migrationReport) printFailed() {
	if r.json {
		return
	}
	fmt.Fprintln(r.a.stderr, "failed:")
	for _, m := range r.failed {
		fmt.Fprintln(r.a.stderr, terminal.Clean(fmt.Sprintf("  %s: %s", m.Key, cause(m.Err))))
	}
}
