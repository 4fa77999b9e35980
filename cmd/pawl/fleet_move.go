package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/job"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/move"
)

// fleetMoveCmd is "pawl fleet move".
type fleetMoveCmd struct {
	Key      string        `arg:"" help:"The store."`
	To       string        `required:"" placeholder:"URL" help:"The new database, which has to be empty: sqlite:PATH, postgres://… or sqlserver://…"`
	ToSchema string        `placeholder:"NAME" help:"Schema of pawl's tables there."`
	ToPrefix string        `placeholder:"TEXT" help:"Prefix of pawl's tables there."`
	Drain    time.Duration `default:"30s" help:"How long to wait for what handlers are at before nobody can write to the store any more."`
	Exec     string        `short:"e" placeholder:"COMMAND" help:"Command to run, by sh -c, when all is copied and nobody can write: to move what else belongs to the store. If it fails, the move is not over."`
	GiveUp   bool          `help:"End a move that is not over: the store is worked on again where it is, and what was copied is deleted."`
}

// Help is printed by --help.
func (*fleetMoveCmd) Help() string {
	return `All that the store holds goes to the new database, which is migrated first: messages,
timers, jobs, joins, the inbox, leases with their tokens, limits and pauses. The store is
worked on while its messages are copied. Then nobody can write to it for a moment, what is
left is copied, and it goes on in the new database. Fleets that list the old address find it
there; enter the new one in the list when you like.

If it is interrupted, run it again: it goes on where it was.

Examples:

    pawl fleet move tenant-7 --to postgres://app@db2.example/tenants --to-schema tenant_7 --fleet list:stores.txt
    pawl fleet move tenant-7 --to sqlite:/mnt/new/tenant-7.db --exec 'cp -r files/tenant-7 /mnt/new' --fleet list:stores.txt
    pawl fleet move tenant-7 --to sqlite:/mnt/new/tenant-7.db --give-up --fleet list:stores.txt`
}

// moveResult is a store that was moved, as JSON.
type moveResult struct {
	Store         string           `json:"store"`
	Database      string           `json:"database"`
	Rows          map[string]int64 `json:"rows"`
	ClosedSeconds float64          `json:"closed_seconds"`
}

// Run moves a store.
func (c *fleetMoveCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := g.requireFleet(); err != nil {
		return err
	}
	from, err := g.entryOf(ctx, c.Key)
	if err = cmp.Or(err, from.err); err != nil {
		return err
	}
	to := fleet.Database{Key: c.Key, URL: c.To, Schema: c.ToSchema, Prefix: c.ToPrefix}
	if _, err := target.Store(&to); err != nil {
		return usage("--to: %w", err)
	}
	f, err := fleet.New(fleet.Static(from.Database), fleet.Options{Engines: target.Openers(true), Pawl: pawl.Options{Logger: silent()}})
	if err != nil {
		return err
	}
	return errors.Join(c.move(g.account(ctx), a, g, f, to), f.Close())
}

func (c *fleetMoveCmd) move(ctx context.Context, a *app, g *options, f *fleet.Fleet, to fleet.Database) error {
	if c.GiveUp {
		if err := f.Operator(access.Key{}).GiveUpMove(ctx, c.Key, to); err != nil {
			return err
		}
		_, err := fmt.Fprintln(a.stdout, terminal.Clean(fmt.Sprintf("store %s stays where it is", c.Key)))
		return err
	}
	drain := c.Drain
	if drain == 0 {
		drain = -1
	}
	o := move.Options{Drain: drain}
	if c.Exec != "" {
		o.Switch = func(ctx context.Context) error { return c.exec(ctx, a) }
	}
	report, err := f.Operator(access.Key{}).Move(ctx, c.Key, to, o)
	if err != nil {
		return err
	}
	if g.JSON {
		return a.printJSON(moveResult{c.Key, to.Where(access.Key{}), report.Rows, report.Closed.Seconds()})
	}
	_, err = fmt.Fprintln(a.stdout, terminal.Clean(fmt.Sprintf("store %s is at %s now: %d messages moved, nobody could write for %v",
		c.Key, to.Where(access.Key{}), report.Rows["outbox_message"], report.Closed.Round(time.Millisecond))))
	return err
}

// exec runs the command of --exec.
func (c *fleetMoveCmd) exec(ctx context.Context, a *app) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Exec)
	cmd.Env, cmd.Stdout, cmd.Stderr = job.Environ(false), a.stderr, a.stderr
	return cmd.Run()
}
