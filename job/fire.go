package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
)

// fireBatch is how many jobs one transaction dispatches.
const fireBatch = 100

// brokenDelay is the delay before the next attempt for a job with an invalid schedule.
const brokenDelay = time.Minute

// sources is what the scheduler dispatches.
func (j *Jobs) sources() []worker.Source { return []worker.Source{source{j}} }

// source implements worker.Source for jobs.
type source struct{ j *Jobs }

func (source) Name() string { return "jobs" }

func (a source) NextDue(ctx context.Context) (time.Duration, bool, error) {
	return worker.NextDue(ctx, a.j.db, op.JobNextDue{})
}

// Dispatch creates the runs of due jobs, and returns how many jobs it handled. None of them is
// due any more: its next time was set, by this or another process, or it was deferred.
func (a source) Dispatch(ctx context.Context) (int64, error) {
	due, err := a.j.due(ctx)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	var moves []*move
	for _, d := range due {
		if planned, err := a.j.plan(ctx, d); err != nil {
			return 0, err
		} else if planned {
			continue
		}
		m, err := d.move()
		if err != nil {
			if err := a.j.deferBroken(ctx, d, err); err != nil {
				return 0, err
			}
			continue
		}
		moves = append(moves, m)
	}
	return int64(len(due)), a.j.fire(ctx, moves)
}

// dueJob is a job whose time has come.
type dueJob struct {
	op.DueJob
	fault error // why it cannot be read
}

func (j *Jobs) due(ctx context.Context) ([]*dueJob, error) {
	return engine.QueryAs(ctx, j.db, op.JobDue{Most: fireBatch}, func(row *op.DueJob, unread error) (*dueJob, error) {
		return &dueJob{*row, engine.Unreadable(unread)}, nil
	})
}

// move sets a job's next time.
type move struct {
	*dueJob
	to   *time.Time // nil: it never runs again
	due  *time.Time
	made []outcome
}

// move reads the job's schedule, which may have been changed by hand or by a newer program.
func (d *dueJob) move() (*move, error) {
	if d.fault != nil {
		return nil, d.fault
	}
	s, zone, err := plan(d.Schedule, d.Zone)
	if err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	shift := time.Duration(d.Shift) * time.Microsecond
	limit := max(1, min(d.MisfireLimit, limits.Misfires))
	// Times are counted by when they are due, not by their nominal time.
	o := overdueTimes(s, zone, d.NextTime.UTC(), d.Now.Add(-shift), limit)
	if o.count == 0 {
		return nil, errors.New("it is due, but its next time is not")
	}
	m := &move{dueJob: d, made: o.decide(Misfire(op.Misfires().Word(int64(d.Misfire))), limit, shift, d.Now)}
	if !o.ends {
		due := o.next.Add(shift)
		m.to, m.due = &o.next, &due
	}
	return m, nil
}

// check returns an error for what Put would not have stored.
func (d *dueJob) check() error {
	switch {
	case d.NextTime == nil:
		return errNever // or a time that Go cannot represent
	case d.Topic == "":
		return errors.New("it has no topic")
	case !d.LaneKnown:
		return errors.New("its queue is not known")
	case d.Shift < 0 || d.Shift > limits.Spread.Microseconds():
		return fmt.Errorf("it has a shift of %d µs", d.Shift)
	}
	return nil
}

// deferBroken defers a broken job: it must neither stop the others nor be taken from a process
// that can read it (D-85).
func (j *Jobs) deferBroken(ctx context.Context, d *dueJob, why error) error {
	j.log.ErrorContext(ctx, "job cannot be followed, will retry", "job", d.Name, "error", why, "delay", brokenDelay)
	return j.db.Do(ctx, engine.Ask(op.JobDefer{ID: d.ID, Version: d.Version, Delay: brokenDelay, Error: worker.ErrorText(why.Error())}))
}

// plan computes the first time of a job that has none: SQL's job_put stores no times. It reports
// false for a job that has a time, or is broken.
func (j *Jobs) plan(ctx context.Context, d *dueJob) (bool, error) {
	if d.fault != nil || d.NextTime != nil {
		return false, nil
	}
	next, ok := d.first()
	if !ok {
		return false, nil
	}
	due := next.Add(time.Duration(d.Shift) * time.Microsecond)
	n, err := engine.Exec(ctx, j.db, nil, op.JobPlan{ID: d.ID, Version: d.Version, NextTime: next, DueAt: due})
	return n > 0, err
}

// first returns the first time of a schedule; move returns what is wrong with one that has none.
func (d *dueJob) first() (next time.Time, ok bool) {
	if s, zone, err := plan(d.Schedule, d.Zone); err == nil {
		return s.Next(d.Now, zone)
	}
	return next, false
}

// fire dispatches jobs in one transaction or, if that fails for another reason than an
// unavailable database, each in one of its own.
func (j *Jobs) fire(ctx context.Context, moves []*move) error {
	if len(moves) == 0 {
		return nil
	}
	err := j.fireTogether(ctx, moves)
	if err == nil || engine.Unavailable(err) || ctx.Err() != nil {
		return err
	}
	for _, m := range moves {
		if err := j.fireTogether(ctx, []*move{m}); engine.Unavailable(err) {
			return err
		} else if err != nil {
			if err := j.deferBroken(ctx, m.dueJob, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *Jobs) fireTogether(ctx context.Context, moves []*move) error {
	slices.SortFunc(moves, func(a, b *move) int { return cmp.Compare(string(a.ID[:]), string(b.ID[:])) })
	var jobs []op.JobMove
	var runs []op.NewJobRun
	for _, m := range moves {
		jobs = append(jobs, op.JobMove{ID: m.ID, Version: m.Version, From: *m.NextTime, To: m.to, Due: m.due})
		for _, made := range m.made {
			runs = append(runs, op.NewJobRun{JobID: m.ID, Nominal: made.nominal, Missed: made.missed})
		}
	}
	var c *engine.Call
	err := engine.Repeat(ctx, nil, func() error {
		generation := j.db.Generation()
		ids, positions, err := j.queue.Reserve(ctx, len(runs))
		if err != nil {
			return err
		}
		placed := slices.Clone(runs)
		for i, id := range ids {
			placed[i].RunID, placed[i].ID = id, positions[i]
		}
		c = engine.Ask(op.JobFire{Jobs: jobs, Runs: placed})
		c.Generation = generation
		return j.db.Do(ctx, c)
	})
	if err != nil {
		return err
	}
	if c.N > 0 {
		j.log.InfoContext(ctx, "made runs of due jobs", "count", c.N)
		j.observers.Each(func(o *worker.Observer) {
			if o.RunsCreated != nil {
				o.RunsCreated(c.N)
			}
		})
	}
	return nil
}
