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
	"github.com/bravellian/pawl/internal/worker"
)

// fireBatch is how many jobs one transaction moves on.
const fireBatch = 100

// brokenPause is when to look again at a job whose schedule cannot be followed.
const brokenPause = time.Minute

// Sources is what a scheduler has to see to.
func (j *Jobs) Sources() []worker.Source { return []worker.Source{source{j}} }

// source is jobs as the scheduler sees them.
type source struct{ j *Jobs }

func (source) Name() string { return "jobs" }

func (a source) NextDue(ctx context.Context) (time.Duration, bool, error) {
	return worker.NextDue(ctx, a.j.db, op.JobNextDue{})
}

// Fire makes the runs of due jobs, and returns how many jobs it dealt with. Each
// leaves the due ones: it is moved on, by us or by somebody else, or put off.
func (a source) Fire(ctx context.Context) (int64, error) {
	due, err := a.j.due(ctx)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	var moves []*move
	for _, d := range due {
		m, err := d.move()
		if err != nil {
			if err := a.j.putOff(ctx, d, err); err != nil {
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

func (j *Jobs) due(ctx context.Context) (due []*dueJob, err error) {
	c := engine.Each(op.JobDue{Most: fireBatch}, func(row *op.DueJob, unread error) error {
		due = append(due, &dueJob{*row, engine.Unreadable(unread)})
		return nil
	})
	c.Reset = func() { due = due[:0] }
	err = j.db.Read(ctx, c)
	return due, err
}

// move is a job on its way to its next time.
type move struct {
	*dueJob
	to   *time.Time // nil: it never fires again
	due  *time.Time
	made []occasion
}

// move reads the job's schedule, which may have been changed by hand or by a
// program that knows more than this one.
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
	limit := max(1, min(d.MisfireLimit, MaxMisfireLimit))
	// What is due is counted by when it is due, not by its nominal time.
	o := look(s, zone, d.NextTime.UTC(), d.Now.Add(-shift), limit)
	if o.count == 0 {
		return nil, errors.New("it is due, but its next time is not")
	}
	m := &move{dueJob: d, made: o.decide(Misfire(op.Misfires.Word(int64(d.Misfire))), limit, shift, d.Now)}
	if !o.ends {
		due := o.next.Add(shift)
		m.to, m.due = &o.next, &due
	}
	return m, nil
}

// check finds what Put would not have stored.
func (d *dueJob) check() error {
	switch {
	case d.NextTime == nil:
		return errors.New("it is due, but has no next time")
	case d.Topic == "":
		return errors.New("it has no topic")
	case !d.LaneKnown:
		return errors.New("its queue is not known")
	case d.Shift < 0 || d.Shift > MaxSpread.Microseconds():
		return fmt.Errorf("it has a shift of %d µs", d.Shift)
	}
	return nil
}

// putOff has a broken job looked at again later: it must neither stop the others
// nor be taken from a process that can follow it (D-85).
func (j *Jobs) putOff(ctx context.Context, d *dueJob, why error) error {
	j.log.ErrorContext(ctx, "job cannot be followed, will retry", "job", d.Name, "error", why, "delay", brokenPause)
	return j.db.Do(ctx, engine.Ask(op.JobDefer{ID: d.ID, Version: d.Version, Delay: brokenPause, Error: worker.ErrorText(why.Error())}))
}

// fire moves jobs on in one transaction or, should that fail for another reason
// than the database being away, each in one of its own.
func (j *Jobs) fire(ctx context.Context, moves []*move) error {
	if len(moves) == 0 {
		return nil
	}
	err := j.fireTogether(ctx, moves)
	if err == nil || engine.Away(err) || ctx.Err() != nil {
		return err
	}
	for _, m := range moves {
		if err := j.fireTogether(ctx, []*move{m}); engine.Away(err) {
			return err
		} else if err != nil {
			if err := j.putOff(ctx, m.dueJob, err); err != nil {
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
		ids, positions, err := j.outbox.Reserve(ctx, len(runs))
		if err != nil {
			return err
		}
		placed := slices.Clone(runs)
		for i, id := range ids {
			placed[i].RunID, placed[i].ID = id, int64(positions[i])
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
		for _, observe := range j.observers {
			observe(c.N)
		}
	}
	return nil
}
