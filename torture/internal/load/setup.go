package load

import (
	"context"
	"log/slog"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/torture/internal/store"
)

// maxMissed is how many runs of the job are made up for.
const maxMissed = 1000

// Setup makes the tables, the job and the limit that a round has.
func Setup(ctx context.Context, s *store.Store) error {
	if err := s.Create(ctx); err != nil {
		return err
	}
	p, err := pawl.New(s.Pawl, Options(slog.New(slog.DiscardHandler), "setup"))
	if err != nil {
		return err
	}
	if _, err := p.Admin.SetLimit(ctx, admin.Topic, Limited, outbox.Limit{Concurrency: LimitedTo}, "torture"); err != nil {
		return err
	}
	if err := p.Jobs.Put(ctx, job.Job{
		Name: Job, Topic: topicJob, Schedule: "* * * * * *", Payload: encode(body{}), Misfire: job.RunAll, MisfireLimit: maxMissed,
	}); err != nil {
		return err
	}
	return s.WriteBack(ctx)
}

// EndJobs makes no more runs.
func EndJobs(ctx context.Context, s *store.Store) error {
	p, err := pawl.New(s.Pawl, Options(slog.New(slog.DiscardHandler), "setup"))
	if err != nil {
		return err
	}
	return p.Jobs.SetEnabled(ctx, Job, false)
}
