package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo"
	"github.com/bravellian/pawl/examples/demo/checkout"
	"github.com/bravellian/pawl/examples/demo/etl"
	"github.com/bravellian/pawl/examples/demo/shop"
	"github.com/bravellian/pawl/ui"
)

// demoCmd is "pawl demo".
type demoCmd struct {
	Orders    string `placeholder:"FILE" help:"Orders to take, one JSON object a line. Default: 1200 that come with the program."`
	Runs      int    `default:"200" placeholder:"N" help:"ETL runs. Default: ${default}."`
	Checkouts int    `default:"300" placeholder:"N" help:"Checkouts. Default: ${default}."`
	Workers   int    `default:"2" placeholder:"N" help:"Worker processes. Default: ${default}."`
	Keep      bool   `help:"Keep the database, to look around in it."`
	UI        bool   `name:"ui" help:"Serve the dashboard beside it, and leave it open until Ctrl-C."`
	Listen    string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where --ui serves it. Default: ${default}."`
}

// maxRuns keeps the demo one that someone watches to the end.
const maxRuns = 10_000

// Help is printed by --help.
func (*demoCmd) Help() string {
	return `A small order service writes every order and its two messages, a mail and an
invoice, in one transaction; where the payment is declined it is rolled back.
Workers in processes of their own deliver the messages. Some deliveries fail
and are retried, a few fail for good, and one worker is killed with SIGKILL in
the middle.

Then comes a night of ETL runs: three extracts each, side by side, and a join
that starts the transform when the last of them is done. Where a source is gone
for good someone is notified instead. Another worker is killed.

Last come checkouts that somebody approves, a durable flow each: it charges the
card, waits without a worker, and books the order, or refunds the charge where
it is declined. A third worker is killed.

At the end the database is asked what became of every message, run and
checkout; the exit code is 1 if anything was lost, made up, done twice or done too early.

It runs on SQLite in a temporary directory or, with a postgres:// URL in --db,
there, in a schema of its own that is dropped afterwards.`
}

// Run runs the demo and prints what the database says of it.
func (c *demoCmd) Run(ctx context.Context, a *app, g *options) error {
	if c.Workers < 1 || c.Workers > 64 {
		return usage("--workers: not within 1 … 64")
	}
	if c.Runs < 1 || c.Runs > maxRuns {
		return usage("--runs: not within 1 … %d", maxRuns)
	}
	if c.Checkouts < 1 || c.Checkouts > maxRuns {
		return usage("--checkouts: not within 1 … %d", maxRuns)
	}
	t, err := g.target(ctx)
	if err != nil {
		return err
	}
	orders, err := c.read()
	if err != nil {
		return err
	}
	o := demo.Options{
		Orders: orders, Runs: c.Runs, Checkouts: c.Checkouts, Workers: c.Workers, Keep: c.Keep, Command: []string{"demo-worker"}, Board: newBoard(a.stderr), OnOpen: a.beforeAbort,
	}
	name := "demo"
	if _, isFile := t.File(); !isFile {
		o.DB, name = g.DB, t.String()
	}
	show := func(v *demo.Verdict) error {
		if g.JSON {
			return a.printScenes(v)
		}
		return printVerdict(a.stdout, v)
	}
	if c.UI {
		beside, stop := c.beside(a, show)
		defer stop()
		o.Beside, show = beside, func(*demo.Verdict) error { return nil }
	}
	v, err := demo.Run(ctx, o)
	if err != nil {
		return &databaseError{name, err}
	}
	if err := show(v); err != nil {
		return err
	}
	return v.Err()
}

// beside serves the dashboard while the demo plays, shows what the database says in the end, and
// leaves the dashboard open until somebody interrupts it. stop ends it, also where the demo failed.
func (c *demoCmd) beside(a *app, show func(*demo.Verdict) error) (serve func(*pawl.Pawl) (func(context.Context, *demo.Verdict), error), stop func()) {
	var s *server
	serve = func(p *pawl.Pawl) (_ func(context.Context, *demo.Verdict), err error) {
		if s, err = serveDashboard(a, c.Listen, ui.Of(p), ui.Options{Logger: slog.New(slog.DiscardHandler)}); err != nil {
			return nil, err
		}
		return func(ctx context.Context, v *demo.Verdict) {
			if err := show(v); err == nil {
				fmt.Fprintf(a.stderr, "The dashboard stays at http://%s/ until Ctrl-C.\n", s.address)
				_ = s.waitFor(ctx)
			}
		}, nil
	}
	return serve, func() {
		if s != nil {
			_ = s.Close()
		}
	}
}

// printScenes prints a line for each scene.
func (a *app) printScenes(v *demo.Verdict) error {
	err := a.printJSON(struct {
		Scene string `json:"scene"`
		*shop.Verdict
	}{"shop", v.Shop})
	if err != nil {
		return err
	}
	err = a.printJSON(struct {
		Scene string `json:"scene"`
		*etl.Verdict
	}{"etl", v.ETL})
	if err != nil {
		return err
	}
	return a.printJSON(struct {
		Scene string `json:"scene"`
		*checkout.Verdict
	}{"checkout", v.Checkout})
}

func (c *demoCmd) read() ([]shop.Order, error) {
	if c.Orders == "" {
		return shop.Read(shop.Bundled())
	}
	f, err := os.Open(c.Orders)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	orders, err := shop.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Orders, err)
	}
	return orders, nil
}

// demoWorkerCmd is how the demo starts its workers.
type demoWorkerCmd struct{}

// Run works until standard input ends.
func (*demoWorkerCmd) Run(ctx context.Context, a *app) error {
	return demo.Work(ctx, a.stdin)
}
