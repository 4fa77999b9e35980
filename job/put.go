package job

import (
	"cmp"
	"context"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/expiry"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Put stores a job, a new one or in place of the one of its name. Storing the same again
// changes nothing, so it may be called at every start: the next run stays, also one that is
// overdue. Another schedule or zone recomputes the next run; other changes do not move it. A
// disabled job stays disabled. Changes by this and the methods below are recorded in the audit
// trail; see admin.WithActor.
//
// Errors: pawl.ErrInvalid, with a *cron.ParseError for a schedule that cannot be
// read, that never fires, or is too long; nothing was stored then.
func (j *Jobs) Put(ctx context.Context, jb Job) error {
	if err := jb.check(); err != nil {
		return err
	}
	now, err := j.now(ctx)
	if err != nil {
		return err
	}
	var s *storing
	var put *engine.Call
	err = engine.Repeat(ctx, nil, func() (err error) {
		if s, err = j.storing(&jb, "", now); err != nil {
			return err
		}
		put = s.call(ctx)
		if err := j.db.Do(ctx, append(s.template.LaneCalls(), put)...); err != nil {
			return err
		}
		s.template.Ran(ctx, nil)
		return nil
	})
	if err != nil {
		return err
	}
	if put.N > 0 {
		j.db.Notify(worker.ScheduleQueue)
		j.log.InfoContext(ctx, "job stored", "job", jb.Name, "schedule", jb.Schedule, "zone", s.spec.Zone, "next", s.next)
	}
	return nil
}

// storing is a job that is about to be stored.
type storing struct {
	spec     op.JobSpec
	template queue.Template
	next     time.Time
}

// storing returns a valid job as it is to be stored, with its first run after now.
func (j *Jobs) storing(jb *Job, owner string, now time.Time) (*storing, error) {
	schedule, zone, err := plan(jb.Schedule, jb.Zone)
	if err != nil {
		return nil, err
	}
	next, ok := schedule.Next(now, zone)
	if !ok {
		return nil, engine.InvalidBecause("schedule", errNever)
	}
	m, err := jb.message(owner)
	if err != nil {
		return nil, err
	}
	b, err := j.queue.Template(m)
	if err != nil {
		return nil, err
	}
	misfire, _ := jb.misfire() // both are valid
	overlap, _ := jb.overlap()
	spec := op.JobSpec{
		ID: uuid.Must(uuid.NewV7()), Name: jb.Name, Topic: jb.Topic, Payload: append([]byte{}, jb.Payload...), Headers: b.Headers(),
		Schedule: jb.Schedule, Zone: zone.String(), Misfire: misfire, MisfireLimit: cmp.Or(jb.MisfireLimit, defaultMisfireLimit), Overlap: overlap,
		Spread: jb.Spread.Microseconds(), Shift: jb.shift().Microseconds(),
	}
	return &storing{spec, b, next}, nil
}

// call stores the job.
func (s *storing) call(ctx context.Context) *engine.Call {
	shift := time.Duration(s.spec.Shift) * time.Microsecond
	c := engine.Ask(op.JobPut{
		NewJob: op.NewJob{JobSpec: s.spec, Lane: s.template.Lane(), NextTime: s.next, DueAt: s.next.Add(shift)},
		Note:   audit.New(ctx, target(s.spec.Name)).Op(),
	})
	c.Generation = s.template.Generation()
	return c
}

// message is what the messages of the runs are like.
func (j *Job) message(owner string) (outbox.Message, error) {
	if _, ok := j.Headers[expiry.Header]; ok {
		return outbox.Message{}, engine.Invalid("headers", "%s: runs of a job do not expire", expiry.Header)
	}
	headers := maps.Clone(j.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	headers[HeaderJob] = j.Name
	delete(headers, headerOwner)
	if owner != "" {
		headers[headerOwner] = owner
	}
	return outbox.Message{Topic: j.Topic, Payload: j.Payload, Headers: headers, Queue: j.Queue, Priority: j.Priority}, nil
}

// target returns the name of a job in the audit trail.
func target(name string) string { return "job " + name }

// now returns the time of the database's clock.
func (j *Jobs) now(ctx context.Context) (now time.Time, err error) {
	clock, _, err := engine.Get(ctx, j.db, op.ClockNow{})
	return clock.Now, err
}

// Delete deletes a job and its pending runs; a run whose handler is running goes on. Runs that
// ended stay in the history. Error: ErrNotFound.
func (j *Jobs) Delete(ctx context.Context, name string) error {
	n, err := engine.Exec(ctx, j.db, nil, op.JobDelete{Name: name, Note: audit.New(ctx, target(name)).Op()})
	if err != nil {
		return err
	}
	if n == 0 {
		return notFound(name)
	}
	j.log.InfoContext(ctx, "job deleted", "job", name)
	return nil
}

// Trigger creates a run now, whatever the schedule, the overlap policy, and whether the job is
// enabled, and returns its id. The schedule does not change. Error: ErrNotFound.
func (j *Jobs) Trigger(ctx context.Context, name string) (RunID, error) {
	var id RunID
	var c *engine.Call
	err := engine.Repeat(ctx, nil, func() error {
		generation := j.db.Generation()
		ids, positions, err := j.queue.Reserve(ctx, 1)
		if err != nil {
			return err
		}
		id = ids[0]
		c = engine.Ask(op.JobTrigger{Name: name, ID: positions[0], RunID: id, Note: audit.New(ctx, target(name)).Op()})
		c.Generation = generation
		return j.db.Do(ctx, c)
	})
	if err != nil {
		return RunID{}, err
	}
	if c.N == 0 {
		return RunID{}, notFound(name)
	}
	j.log.InfoContext(ctx, "job triggered", "job", name, "message_id", id.String())
	return id, nil
}

// SetEnabled enables or disables a job. A disabled job has no runs but triggered ones; missed
// times are not made up for. Error: ErrNotFound.
func (j *Jobs) SetEnabled(ctx context.Context, name string, enabled bool) error {
	for {
		info, err := j.Get(ctx, name)
		if err != nil || info.Enabled == enabled {
			return err
		}
		note := audit.New(ctx, target(name)).Op()
		var change engine.Operation = op.JobDisable{Name: name, Note: note}
		if enabled {
			schedule, zone, err := plan(info.Schedule, info.Zone)
			if err != nil {
				return err
			}
			next, ok := schedule.Next(info.now, zone)
			if !ok {
				return engine.InvalidBecause("schedule", errNever)
			}
			change = op.JobEnable{Name: name, Version: info.version, NextTime: next, DueAt: next.Add(info.shift()), Note: note}
		}
		n, err := engine.Exec(ctx, j.db, nil, change)
		if err != nil {
			return err
		}
		if n > 0 {
			j.db.Notify(worker.ScheduleQueue)
			j.log.InfoContext(ctx, "job switched on or off", "job", name, "enabled", enabled)
			return nil
		}
		// Its version changed: read it again.
	}
}
