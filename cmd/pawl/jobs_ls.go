package main

import (
	"context"
	"iter"

	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/job"
)

// jobsLsCmd is "pawl jobs ls".
type jobsLsCmd struct {
	pageFlags `set:"cursor=NAME"`
}

// Help is printed by --help.
func (*jobsLsCmd) Help() string {
	return `Broken is a job whose schedule cannot be followed; ERROR says why. --json prints
all fields but the payload.`
}

// Run lists jobs.
func (c *jobsLsCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := c.checkLimit(); err != nil {
		return err
	}
	var f job.ListOptions
	if c.After != "" {
		f.After = &job.Info{Job: job.Job{Name: c.After}}
	}
	return jobListing().list(ctx, a, g, c.listFlags, func(s *store) iter.Seq2[job.Info, error] {
		return s.pawl().Jobs.List(ctx, f)
	})
}

func jobListing() *listing[job.Info] {
	return &listing[job.Info]{
		none: "no jobs",
		columns: []column[job.Info]{
			{head: "JOB", cell: func(i *job.Info) string { return i.Name }},
			{head: "STATE", cell: view.JobState},
			{head: "SCHEDULE", cell: func(i *job.Info) string { return i.Schedule }},
			{head: "ZONE", cell: func(i *job.Info) string { return i.Zone }},
			{head: "TOPIC", cell: func(i *job.Info) string { return i.Topic }},
			{head: "NEXT RUN", cell: func(i *job.Info) string { return stampKnown(i.NextRunAt) }},
			{head: "LAST RUN", cell: func(i *job.Info) string { return stampKnown(i.LastRunAt) }},
			{head: "STATUS", cell: func(i *job.Info) string { return string(i.LastRunStatus) }},
			{head: "ERROR", cell: func(i *job.Info) string { return i.LastError }},
		},
		id:    func(i *job.Info) string { return i.Name },
		pages: true,
		view:  func(i *job.Info) any { return view.OfJob(i) },
	}
}
