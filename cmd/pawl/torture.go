package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/bravellian/pawl/torture"
)

// tortureCmd is "pawl torture".
type tortureCmd struct {
	Duration   time.Duration `default:"2m" placeholder:"TIME" help:"How long to begin rounds. Default: ${default}."`
	Round      time.Duration `default:"30s" placeholder:"TIME" help:"How long there is load in a round. Default: ${default}."`
	Seed       uint64        `placeholder:"N" help:"Number that the faults follow from. Default: one at random, which is printed."`
	Faults     []string      `placeholder:"NAME" help:"Faults to make. Default: all that are possible and allowed."`
	Plan       string        `type:"path" placeholder:"FILE" help:"Make the faults of a plan.json at its times, in one round."`
	Pooled     bool          `help:"The round of --plan is one behind a pooler."`
	Workers    int           `default:"3" placeholder:"N" help:"Worker processes. Default: ${default}."`
	Producers  int           `default:"2" placeholder:"N" help:"Producer processes. Default: ${default}."`
	Pace       time.Duration `default:"20ms" placeholder:"TIME" help:"Mean time between transactions of a producer; 0: as fast as workers keep up. Default: ${default}."`
	Rewinds    bool          `help:"With rounds in which committed work is taken away: tables are dropped and made again, files put back."`
	HarmServer bool          `help:"Allow faults that others who use the server notice: all connections taken, defaults of the user changed and its connections ended."`
	Dir        string        `type:"path" placeholder:"DIR" help:"Where histories and logs of rounds go. Default: a temporary directory."`
	Keep       bool          `help:"Keep them, and the tables, also where nothing was found."`
}

// Help is printed by --help.
func (*tortureCmd) Help() string {
	return `Producers, workers and other processes work on a database while faults are made:
processes are killed and stopped, connections are cut at commits, delayed and
silenced, rows are locked. Then the faults end, the work is finished, and what the
processes did is compared with what the database has. The exit code is 1 if
anything was lost, made up, done twice without reason or in the wrong order; the
histories are kept then.

It runs on SQLite in the directory or, with a postgres:// URL in --db, there, in
schemas of its own that are dropped afterwards, unless something was found. The user
needs the right to create them. Only the processes of the command and their connections are harmed, unless
--harm-server allows more.

The faults follow from --seed and --round. What processes do in between is up to the
machine: the same number makes the same plan, not the same run.

Examples:

    pawl torture
    pawl --db postgres://app@db.example/shop torture --duration 10m
    pawl torture --seed 17 --faults kill,stop`
}

// Run runs rounds and prints a line for each.
func (c *tortureCmd) Run(ctx context.Context, a *app, g *options) error {
	const most = 64
	if c.Workers < 1 || c.Workers > most || c.Producers < 1 || c.Producers > most {
		return usage("--workers and --producers: not within 1 … %d", most)
	}
	if c.Round < time.Second || c.Pace < 0 {
		return usage("--round: shorter than a second, or --pace: negative")
	}
	o, err := c.options(ctx, a, g)
	if err != nil {
		return err
	}
	a.say("--seed %d --duration %v --round %v, in %s", o.Seed, o.Duration, o.Round, o.Dir)
	report, err := torture.Run(ctx, o)
	if err != nil {
		return errors.Join(err, c.cleanUp(o, ctx.Err() != nil)) // after Ctrl-C nothing is of interest
	}
	for _, r := range report.Rounds {
		if g.JSON {
			err = errors.Join(err, a.printJSON(r))
			continue
		}
		fmt.Fprintf(a.stdout, "round %d, seed %d: %d faults, %d messages, %.0f a minute, %d violations\n",
			r.Number, r.Seed, r.Faults, r.Messages, r.Rate(), len(r.Violations))
		for _, v := range r.Violations {
			fmt.Fprintf(a.stdout, "    %s\n", v)
		}
	}
	return errors.Join(err, report.Err(), c.cleanUp(o, report.Err() == nil))
}

// options are those of package torture.
func (c *tortureCmd) options(ctx context.Context, a *app, g *options) (o torture.Options, err error) {
	t, err := g.target(ctx)
	if err != nil {
		return o, err
	}
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	o = torture.Options{
		Schema: fmt.Sprintf("pawl_torture_%08x", rand.Uint32()), HarmServer: c.HarmServer, Dir: c.Dir, Keep: c.Keep, Seed: c.Seed,
		Duration: c.Duration, Round: c.Round, Faults: c.Faults, Rewinds: c.Rewinds, Workers: c.Workers, Producers: c.Producers,
		Pace: c.Pace, Pooled: c.Pooled, Command: []string{self, "torture-process"}, Log: a.say,
	}
	switch t.Engine() {
	case "postgres":
		o.URL = g.DB
	case "sqlserver":
		return o, usage("--db: processes are tortured on SQLite and PostgreSQL only")
	}
	if c.Seed == 0 {
		o.Seed = uint64(rand.Uint32())
	}
	if c.Plan != "" {
		text, err := os.ReadFile(c.Plan)
		if err == nil {
			err = json.Unmarshal(text, &o.Plan)
		}
		if err != nil {
			return o, fmt.Errorf("--plan: %w", err)
		}
	}
	if o.Dir == "" {
		o.Dir, err = os.MkdirTemp("", "pawl-torture-")
	}
	return o, err
}

// cleanUp removes a temporary directory in which nothing is of interest.
func (c *tortureCmd) cleanUp(o torture.Options, good bool) error {
	if c.Dir != "" || c.Keep || !good {
		return nil
	}
	return os.RemoveAll(o.Dir)
}

// say prints what happens.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.stderr, format+"\n", args...) }

// tortureProcessCmd is how the command starts its processes.
type tortureProcessCmd struct{}

// Run works until it is stopped.
func (*tortureProcessCmd) Run(ctx context.Context) error {
	if torture.Process(ctx) != 0 {
		return errors.New("the process could not go on")
	}
	return nil
}
