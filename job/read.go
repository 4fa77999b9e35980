package job

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Info is a job with its state.
type Info struct {
	Job
	Owner     string    `json:"owner,omitempty"` // who declared it by Sync
	Enabled   bool      `json:"enabled"`
	NextRunAt time.Time `json:"next_run_at,omitzero"` // nominal time of the next run; zero: none
	LastRunID RunID     `json:"last_run_id,omitzero"` // zero: it never ran
	// LastRunAt is when the last run began or, until it does, when it was made.
	LastRunAt     time.Time `json:"last_run_at,omitzero"`
	LastRunStatus Status    `json:"last_run_status,omitempty"` // "": it never ran
	LastError     string    `json:"last_error,omitempty"`      // why its schedule cannot be followed; "" if it can
	CreatedAt     time.Time `json:"created_at,omitzero"`
	UpdatedAt     time.Time `json:"updated_at,omitzero"`
	// Unreadable says what of the job cannot be read, and is missing here: some
	// other program wrote it. "" if nothing is.
	Unreadable string `json:"unreadable,omitempty"`

	version int64
	now     time.Time // by the database's clock
}

// Due returns when the next run is created: NextRunAt and the job's offset within its Spread. It
// is zero if there is none.
func (i *Info) Due() time.Time {
	if i.NextRunAt.IsZero() {
		return i.NextRunAt
	}
	return i.NextRunAt.Add(i.shift())
}

// Get returns a job, or ErrNotFound.
func (j *Jobs) Get(ctx context.Context, name string) (*Info, error) {
	found, err := j.infos(ctx, op.JobGet{Name: name})
	if err == nil && len(found) == 0 {
		err = notFound(name)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// ListOptions select jobs. The zero value lists all.
type ListOptions struct {
	After *Info // only jobs that follow this one: its Name counts; nil: from the beginning
}

// List returns jobs by name, which it reads while they are iterated over. An error is the last item.
func (j *Jobs) List(ctx context.Context, opts ListOptions) iter.Seq2[Info, error] {
	return engine.Pages(opts.After, func(after *Info, most int) ([]Info, error) {
		list := op.JobList{Most: most}
		if after != nil {
			list.After = after.Name
		}
		return j.infos(ctx, list)
	})
}

func (j *Jobs) infos(ctx context.Context, ask engine.Answering[op.Job]) ([]Info, error) {
	return engine.QueryAs(ctx, j.db, ask, info)
}

// info is what is known of a job as it is stored; unread is why not all of it can be
// read. It is an error if nothing can.
func info(s *op.Job, unread error) (Info, error) {
	if unread != nil && s.Name == "" {
		return Info{}, unread
	}
	i := Info{
		Job: Job{
			Name: s.Name, Topic: s.Topic, Payload: s.Payload, Queue: s.Queue, Priority: s.Priority, Schedule: s.Schedule, Zone: s.Zone,
			Misfire: Misfire(op.Misfires().Word(int64(s.Misfire))), MisfireLimit: s.MisfireLimit, Overlap: Overlap(op.Overlaps().Word(int64(s.Overlap))), Spread: time.Duration(s.Spread) * time.Microsecond,
		},
		Enabled: s.Enabled, NextRunAt: worker.Value(s.NextTime).UTC(), LastRunID: worker.Value(s.LastRunID), LastRunAt: worker.Value(s.LastRunTime).UTC(),
		LastError: worker.Value(s.LastError), CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(),
		version: s.Version, now: s.Now,
	}
	if !i.LastRunID.IsZero() {
		i.LastRunStatus = statusOf(s.LastRunStatus)
	}
	if i.Headers = headersOf(s.Headers); i.Headers != nil {
		i.Owner = i.Headers[headerOwner]
		delete(i.Headers, HeaderJob)
		delete(i.Headers, headerOwner)
	}
	i.Unreadable = engine.UnreadableText(unread, engine.CleanText("name", &i.Name), engine.CleanText("topic", &i.Topic), engine.CleanText("schedule", &i.Schedule), engine.CleanText("zone", &i.Zone),
		engine.CleanTime("next time", &i.NextRunAt), engine.CleanTime("time of the last run", &i.LastRunAt),
		engine.CleanTime("time of creation", &i.CreatedAt), engine.CleanTime("time of change", &i.UpdatedAt))
	return i, nil
}

// headersOf returns headers as they are stored, nil for none and for what cannot be read.
func headersOf(text *string) (all map[string]string) {
	if text == nil || json.Unmarshal([]byte(*text), &all) != nil {
		return nil
	}
	return all
}

// Next returns the next n nominal times of a job, by its schedule, without its Spread. There are
// none for a disabled job.
func (j *Jobs) Next(ctx context.Context, name string, n int) ([]time.Time, error) {
	info, err := j.Get(ctx, name)
	if err != nil || !info.Enabled {
		return nil, err
	}
	schedule, zone, err := plan(info.Schedule, info.Zone)
	if err != nil {
		return nil, err
	}
	var times []time.Time
	t, ok := info.NextRunAt, !info.NextRunAt.IsZero()
	for ; ok && len(times) < n; t, ok = schedule.Next(t, zone) {
		times = append(times, t.In(zone))
	}
	return times, nil
}

// Explain describes a schedule in words, and its next n times after a moment, in a
// zone ("" for UTC). It needs no database. Errors are those of Put.
func Explain(schedule, zone string, after time.Time, n int) (words string, times []time.Time, err error) {
	s, loc, err := plan(schedule, zone)
	if err != nil {
		return "", nil, err
	}
	t, ok := s.Next(after, loc)
	if !ok {
		return "", nil, engine.InvalidBecause("schedule", errNever)
	}
	for ; ok && len(times) < n; t, ok = s.Next(t, loc) {
		times = append(times, t.In(loc))
	}
	return s.Describe(), times, nil
}

// RunID identifies a run, and is the id of its message.
type RunID = outbox.MessageID

// Status is where a run is in its life.
type Status string

// The states of a run. Pending and Running are not final, and a failed run's
// message can be redriven; then it is pending again.
const (
	Pending   Status = "pending" // waiting for a worker, also for another attempt
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled" // its message was discarded
	Skipped   Status = "skipped"   // an earlier run was not over (Skip); there is no message
	Missed    Status = "missed"    // no scheduler was running; there is no message
	Unknown   Status = "unknown"
)

func statusOf(stored *int64) Status {
	if stored == nil {
		return Unknown
	}
	return Status(op.RunStatuses().Word(*stored))
}

// Run is a run, or the record of one that was skipped or missed.
type Run struct {
	ID          RunID           `json:"run_id"`
	Position    outbox.Position `json:"id"` // of its message
	Job         string          `json:"job"`
	Status      Status          `json:"status"`
	ScheduledAt time.Time       `json:"scheduled_at,omitzero"` // nominal time; of a triggered run, when it was triggered
	Triggered   bool            `json:"triggered"`             // by Trigger, not by the schedule
	Missed      int64           `json:"missed,omitempty"`      // of Missed: how many times at least, ScheduledAt being the first
	CreatedAt   time.Time       `json:"created_at,omitzero"`
	StartedAt   time.Time       `json:"started_at,omitzero"` // of the first attempt; zero: not yet, or by a worker that knows no jobs
	EndedAt     time.Time       `json:"ended_at,omitzero"`   // zero: not yet
	Attempts    int             `json:"retry_count"`         // failed ones that another followed
	LastError   string          `json:"last_error,omitempty"`
	// Unreadable is as in Info.
	Unreadable string `json:"unreadable,omitempty"`
}

// RunsOptions select runs. The zero value selects all.
type RunsOptions struct {
	After *Run // only runs that follow this one: its ScheduledAt and Position count; nil: from the beginning
}

// Runs returns the history of a job, latest nominal time first, which it reads while it is iterated
// over. It outlives the job, so an unknown name is no error. An error is the last item.
func (j *Jobs) Runs(ctx context.Context, name string, opts RunsOptions) iter.Seq2[Run, error] {
	return engine.Pages(opts.After, func(after *Run, most int) ([]Run, error) {
		list := op.JobRuns{Name: name, ScheduledTime: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), ID: math.MaxInt64, Most: most}
		if after != nil {
			list.ScheduledTime, list.ID = after.ScheduledAt, int64(after.Position)
		}
		return j.runs(ctx, list)
	})
}

// GetRun returns a run, or ErrNotFound.
func (j *Jobs) GetRun(ctx context.Context, id RunID) (*Run, error) {
	found, err := j.runs(ctx, op.JobRun{ID: int64(id.Position())})
	if err == nil && (len(found) == 0 || found[0].ID != id) {
		err = fmt.Errorf("%w: run %s", ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

func (j *Jobs) runs(ctx context.Context, ask engine.Answering[op.JobRunItem]) ([]Run, error) {
	return engine.QueryAs(ctx, j.db, ask, run)
}

// run is what is known of a run as it is stored; unread is why not all of it can be
// read. It is an error if nothing can.
func run(s *op.JobRunItem, unread error) (Run, error) {
	if unread != nil && s.ID == 0 {
		return Run{}, unread
	}
	r := Run{
		ID: s.RunID, Position: outbox.Position(s.ID), Job: s.JobName, ScheduledAt: s.ScheduledTime.UTC(), Triggered: s.Triggered, Missed: s.Missed,
		Status: statusOf(s.Status), CreatedAt: s.CreatedAt.UTC(), StartedAt: worker.Value(s.StartTime).UTC(), EndedAt: worker.Value(s.EndTime).UTC(),
		Attempts: s.RetryCount, LastError: worker.Value(s.LastError),
	}
	r.Unreadable = engine.UnreadableText(unread, engine.CleanText("job", &r.Job), engine.CleanTime("scheduled time", &r.ScheduledAt), engine.CleanTime("time of creation", &r.CreatedAt),
		engine.CleanTime("start", &r.StartedAt), engine.CleanTime("end", &r.EndedAt))
	return r, nil
}
