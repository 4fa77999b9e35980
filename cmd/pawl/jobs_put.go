package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/job"
)

// jobsPutCmd is "pawl jobs put".
type jobsPutCmd struct {
	Name     string `arg:"" help:"Name of the job."`
	Schedule string `short:"s" required:"" placeholder:"EXPR" help:"Cron expression; see \"pawl jobs next\"."`
	Topic    string `short:"t" required:"" placeholder:"TOPIC" help:"Topic of the messages."`

	Zone         string        `short:"z" placeholder:"ZONE" help:"Whose clocks the schedule follows, such as Europe/Berlin. Default: UTC."`
	Data         string        `short:"d" placeholder:"TEXT" help:"Payload of the messages, - for all of standard input. Default: empty."`
	Misfire      string        `enum:"once,none,all" default:"once" placeholder:"POLICY" help:"What becomes of times at which nothing was there to make runs. once (default): one run for all. none: no run. all: a run for each."`
	MisfireLimit int           `placeholder:"N" help:"With --misfire=all: how many runs at most, the latest. Default: 10."`
	Overlap      string        `enum:"allow,skip" default:"allow" placeholder:"POLICY" help:"skip: no run while the last one is not over. Default: ${default}."`
	Spread       time.Duration `placeholder:"DURATION" help:"Delay all runs by the same time, less than this and made of the name, so that not all jobs start together. At most 24h."`
	messageFlags

	migrateFlag
}

// Help is printed by --help.
func (*jobsPutCmd) Help() string {
	return `Storing the same job again changes nothing, so a deployment may do it every time.
Another schedule or zone makes the next run anew; a disabled job stays disabled.

Examples:

    pawl jobs put report --topic report --schedule '0 6 * * MON-FRI' --zone Europe/Berlin
    pawl jobs put sync --topic sync --schedule '@every 90s' --overlap skip --data '{"all":true}'`
}

// Run stores a job.
func (c *jobsPutCmd) Run(ctx context.Context, a *app, g *options) error {
	jb, err := c.job(time.Now())
	if err != nil {
		return err
	}
	if _, err := g.target(ctx); err != nil {
		return err // before anyone types the payload
	}
	m := c.message(c.Topic, "")
	if err := a.readPayload(&m, c.Data); err != nil {
		return err
	}
	jb.Payload = m.Payload
	s, err := g.open(ctx, opening{make: true, migrate: c.Migrate})
	if err != nil {
		return err
	}
	var stored *job.Info
	jobs := s.pawl().Jobs
	if err = jobs.Put(ctx, jb); err == nil {
		stored, err = jobs.Get(ctx, c.Name)
	}
	if err := s.close(err); err != nil {
		return err
	}
	if err := a.printState(stored, g.JSON); err != nil {
		return fmt.Errorf("the job was stored, but: %w", err)
	}
	return nil
}

// job is what the options say, without the payload. It finds mistakes that Put
// would only report once there is a database.
func (c *jobsPutCmd) job(now time.Time) (job.Job, error) {
	jb := job.Job{
		Name: c.Name, Schedule: c.Schedule, Zone: c.Zone, Topic: c.Topic, Headers: c.Header, Queue: c.Queue, Priority: c.Priority,
		Misfire: job.Misfire(c.Misfire), Overlap: job.Overlap(c.Overlap), MisfireLimit: c.MisfireLimit, Spread: c.Spread,
	}
	if err := checkJob(c.Name); err != nil {
		return jb, err
	}
	m := c.message(c.Topic, "")
	if err := m.Validate(); err != nil {
		return jb, usage("%w", err)
	}
	switch {
	case c.MisfireLimit != 0 && jb.Misfire != job.RunAll:
		return jb, usage("--misfire-limit goes with --misfire=all")
	case c.MisfireLimit < 0, c.MisfireLimit > limits.Misfires:
		return jb, usage("--misfire-limit: not within 1 … %d", limits.Misfires)
	case c.Spread < 0, c.Spread > limits.Spread:
		return jb, usage("--spread: not within 0 … %s", engine.Exact(limits.Spread))
	}
	_, _, err := explainSchedule(c.Schedule, c.Zone, now, 1)
	return jb, err
}
