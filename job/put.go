package job

import (
	"context"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/audit"
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/work"
)

// Put stores a job, new or in place of the one of its name. Storing the same again
// changes nothing, so it may be called at every start: the next run stays, also
// one that is overdue. Another schedule or zone makes the next run anew; other
// changes do not move it. A disabled job stays disabled. What changes a job, here and
// in the methods below, is noted in the audit trail; see audit.WithActor.
//
// Errors: engine.ErrInvalid, with cron.ErrSyntax for a schedule that cannot be
// read, that never fires, or is too long; nothing was stored then.
func (j *Jobs) Put(ctx context.Context, jb Job) error {
	if err := jb.validate(); err != nil {
		return err
	}
	schedule, zone, err := plan(jb.Schedule, jb.Zone)
	if err != nil {
		return err
	}
	now, err := j.now(ctx)
	if err != nil {
		return err
	}
	next, ok := schedule.Next(now, zone)
	if !ok {
		return &ScheduleError{Field: "schedule", Err: errNever}
	}
	limit := jb.MisfireLimit
	if limit == 0 {
		limit = defaultMisfireLimit
	}
	put := &engine.Call{Op: "job/put"}
	err = engine.Repeat(ctx, nil, func() error {
		b, err := j.template(&jb)
		if err != nil {
			return err
		}
		put.Args = audit.Noted(ctx, target(jb.Name),
			[16]byte(uuid.Must(uuid.NewV7())), jb.Name, jb.Topic, append([]byte{}, jb.Payload...), b.Headers(), b.Lane(), jb.Schedule, zone.String(),
			int(jb.Misfire), limit, int(jb.Overlap), jb.Spread.Microseconds(), jb.shift().Microseconds(), &next, at(next, jb.shift()),
		)
		put.Generation = b.Generation()
		if err := j.db.Do(ctx, append(b.LaneCalls(), put)...); err != nil {
			return err
		}
		b.Ran(ctx, nil)
		return nil
	})
	if err != nil {
		return err
	}
	if put.N > 0 {
		j.db.Ring(work.ScheduleQueue)
		j.log.InfoContext(ctx, "job stored", "job", jb.Name, "schedule", jb.Schedule, "zone", zone.String(), "next", next)
	}
	return nil
}

// template is the message that runs of a job are like: the outbox validates it,
// and knows its lane.
func (j *Jobs) template(jb *Job) (*outbox.Batch, error) {
	headers := maps.Clone(jb.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	headers[Header] = jb.Name
	return j.outbox.Template(outbox.Message{Topic: jb.Topic, Payload: jb.Payload, Headers: headers, Queue: jb.Queue, Priority: jb.Priority})
}

// target is what the audit trail calls a job.
func target(name string) string { return "job " + name }

// at is when a nominal time is due.
func at(nominal time.Time, shift time.Duration) *time.Time {
	due := nominal.Add(shift)
	return &due
}

// now is the database's clock.
func (j *Jobs) now(ctx context.Context) (now time.Time, err error) {
	err = j.db.Read(ctx, &engine.Call{Op: "job/now", Each: func(r engine.Row) error { return r.Scan(&now) }})
	return now, err
}

// Delete removes a job and its pending runs; a run whose handler is at work goes
// on to its end. Runs that are over stay in the history. Error: ErrNotFound.
func (j *Jobs) Delete(ctx context.Context, name string) error {
	c := engine.Count("job/delete", audit.Noted(ctx, target(name), name)...)
	if err := j.db.Do(ctx, c); err != nil {
		return err
	}
	if c.N == 0 {
		return notFound(name)
	}
	j.log.InfoContext(ctx, "job deleted", "job", name)
	return nil
}

// Trigger makes a run now, whatever the schedule, the overlap policy, and whether
// the job is enabled, and returns its id. The schedule stays as it is. Error:
// ErrNotFound.
func (j *Jobs) Trigger(ctx context.Context, name string) (RunID, error) {
	var id RunID
	var c *engine.Call
	err := engine.Repeat(ctx, nil, func() error {
		generation := j.db.Generation()
		ids, positions, err := j.outbox.Mint(ctx, 1)
		if err != nil {
			return err
		}
		id = ids[0]
		c = engine.Count("job/trigger", audit.Noted(ctx, target(name), name, int64(positions[0]), [16]byte(id))...)
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

// SetEnabled switches a job on or off. A disabled job makes no runs but triggered
// ones; what it would have made is not made up for. Error: ErrNotFound.
func (j *Jobs) SetEnabled(ctx context.Context, name string, enabled bool) error {
	for {
		info, err := j.Get(ctx, name)
		if err != nil || info.Enabled == enabled {
			return err
		}
		c := &engine.Call{Op: "job/disable", Args: audit.Noted(ctx, target(name), name)}
		if enabled {
			schedule, zone, err := plan(info.Schedule, info.Zone)
			if err != nil {
				return err
			}
			next, ok := schedule.Next(info.now, zone)
			if !ok {
				return &ScheduleError{Field: "schedule", Err: errNever}
			}
			c = &engine.Call{Op: "job/enable", Args: audit.Noted(ctx, target(name), name, info.version, &next, at(next, info.shift()))}
		}
		if err := j.db.Do(ctx, c); err != nil {
			return err
		}
		if c.N > 0 {
			j.db.Ring(work.ScheduleQueue)
			j.log.InfoContext(ctx, "job switched on or off", "job", name, "enabled", enabled)
			return nil
		}
		// It is another job by now: look again.
	}
}
