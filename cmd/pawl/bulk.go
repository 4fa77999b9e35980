package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
)

// bulkCmd is "pawl bulk".
type bulkCmd struct {
	Ls   bulkLsCmd   `cmd:"" aliases:"list" help:"List bulk acts and how far they are."`
	Stop bulkStopCmd `cmd:"" help:"Stop a bulk act before its end."`
}

// Help is printed by --help.
func (*bulkCmd) Help() string {
	return `"pawl retry" and "pawl discard" with --rate store a bulk act: what is chosen, how many
a second, who asked for it and why. Every process that runs pawl's workers works it off, one of
them at a time. Messages that fail after it was stored are left alone.`
}

// bulkJSON is a bulk act as JSON.
type bulkJSON struct {
	Store string `json:"store,omitempty"`
	acts.Bulk
}

// bulkLsCmd is "pawl bulk ls".
type bulkLsCmd struct{ outputFlag }

// Help is printed by --help.
func (*bulkLsCmd) Help() string {
	return `STATE is stored as long as no worker has begun, then running, and done or stopped. DONE is
how many messages were changed, OF how many were chosen when it was stored. Those that ended are
kept for the retention period of the workers, 7 days by default.`
}

// Run lists bulk acts.
func (c *bulkLsCmd) Run(ctx context.Context, a *app, g *options) error {
	return bulkListing().listStores(ctx, a, g, c.outputFlag, func(s *store, key string) (all []bulkJSON, err error) {
		list, err := s.pawl().Outbox.Operator(access.Key{}).Bulks(ctx)
		for i := range list {
			all = append(all, bulkJSON{key, list[i]})
		}
		return all, err
	})
}

func bulkListing() *listing[bulkJSON] {
	return &listing[bulkJSON]{
		none: "no bulk acts",
		id:   func(b *bulkJSON) string { return b.ID.String() },
		columns: []column[bulkJSON]{
			{head: "STORE", cell: func(b *bulkJSON) string { return b.Store }, optional: true},
			{head: "ID", cell: func(b *bulkJSON) string { return b.ID.String() }},
			{head: "STATE", cell: func(b *bulkJSON) string { return string(b.Status) }},
			{head: "ACT", cell: func(b *bulkJSON) string { return b.Action }},
			{head: "DONE", cell: func(b *bulkJSON) string { return number(b.Changed) }},
			{head: "OF", cell: func(b *bulkJSON) string { return number(b.Total) }},
			{head: "RATE", cell: func(b *bulkJSON) string { return numberKnown(b.Filter.Rate) }},
			{head: "SINCE", cell: func(b *bulkJSON) string { return stamp(b.StartedAt) }},
			{head: "LAST", cell: func(b *bulkJSON) string { return stampKnown(b.SteppedAt) }},
			{head: "BY", cell: func(b *bulkJSON) string { return b.Actor }},
			{head: "WHAT", cell: func(b *bulkJSON) string { return b.Target }},
			{head: "REASON", cell: func(b *bulkJSON) string { return b.Reason }},
		},
	}
}

// bulkStopCmd is "pawl bulk stop".
type bulkStopCmd struct {
	ID string `arg:"" help:"Id of the act."`
}

// Help is printed by --help.
func (*bulkStopCmd) Help() string {
	return `What it has not changed yet is left as it is.`
}

// Run stops a bulk act.
func (c *bulkStopCmd) Run(ctx context.Context, a *app, g *options) error {
	id, err := uuid.Parse(c.ID)
	if err != nil {
		return usage("%q is no id of a bulk act", c.ID)
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	o := s.pawl().Outbox.Operator(access.Key{})
	before, err := o.Bulk(ctx, id)
	b := before
	if err == nil {
		b, err = o.StopBulk(ctx, id)
	}
	if err := s.close(err); err != nil {
		return err
	}
	if before.Over() || b.Status != acts.Stopped {
		return fmt.Errorf("bulk act %s is %s, it changed %s", b.ID, b.Status, engine.Several(b.Changed, "message"))
	}
	if g.JSON {
		return a.printJSON(b)
	}
	_, err = fmt.Fprintf(a.stdout, "stopped %s: it changed %s of %d\n", b.ID, engine.Several(b.Changed, "message"), b.Total)
	return err
}

// workersOf says whether workers are there to work off a bulk act.
func workersOf(ctx context.Context, s *store) (string, error) {
	all, err := inspect.ListWorkers(ctx, s)
	if err != nil {
		return "", err
	}
	for i := range all {
		if all[i].Alive {
			return "workers work it off", nil
		}
	}
	return "no worker is running: nothing happens before one is", nil
}

// printStored prints an act that workers work off.
func (a *app) printStored(done string, b *acts.Bulk, note string, asJSON bool) error {
	if asJSON {
		return a.printJSON(b)
	}
	_, err := fmt.Fprintf(a.stdout, "stored %s: %s to be %s, %d a second; %s\n", b.ID, engine.Several(b.Total, "message"), done, b.Filter.Rate, note)
	return err
}
