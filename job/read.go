package job

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/work"
)

// Info is a job with its state.
type Info struct {
	Job
	Enabled   bool
	NextRun   time.Time // nominal time of the next run; zero: none
	LastRunID RunID     // zero: it never ran
	// LastRunTime is when the last run began or, until it does, when it was made.
	LastRunTime   time.Time
	LastRunStatus Status
	LastError     string // why its schedule cannot be followed; "" if it can
	CreatedAt     time.Time
	UpdatedAt     time.Time
	// Unreadable says what of the job cannot be read, and is missing here: some
	// other program wrote it. "" if nothing is.
	Unreadable string

	version int64
	now     time.Time // by the database's clock
}

// Due is when the next run is made: NextRun and the job's part of its Spread. It is
// zero if there is none.
func (i *Info) Due() time.Time {
	if i.NextRun.IsZero() {
		return i.NextRun
	}
	return i.NextRun.Add(i.shift())
}

// Get returns a job, or ErrNotFound.
func (j *Jobs) Get(ctx context.Context, name string) (*Info, error) {
	found, err := j.infos(ctx, "job/get", name)
	if err == nil && len(found) == 0 {
		err = notFound(name)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// ListFilter selects jobs. The zero value lists the first 100 by name.
type ListFilter struct {
	After string // only jobs behind this name, to page on
	Limit int    // default 100, at most 10 000
}

const (
	defaultList = 100
	maxList     = 10_000
)

func limited(n int) int {
	if n <= 0 {
		return defaultList
	}
	return min(n, maxList)
}

// List returns jobs by name.
func (j *Jobs) List(ctx context.Context, f ListFilter) ([]*Info, error) {
	return j.infos(ctx, "job/list", f.After, limited(f.Limit))
}

func (j *Jobs) infos(ctx context.Context, op string, args ...any) (found []*Info, err error) {
	err = j.db.Read(ctx, &engine.Call{
		Op: op, Args: args,
		Reset: func() { found = found[:0] },
		Each: func(r engine.Row) error {
			i, err := scanInfo(r)
			found = append(found, i)
			return err
		},
	})
	return found, err
}

func scanInfo(r engine.Row) (*Info, error) {
	i := &Info{}
	var id [16]byte
	var headers, lastError *string
	var spread, shift int64
	var next, lastTime *time.Time
	var last *[16]byte
	var status *int64
	err := r.Scan(&id, &i.Name, &i.Topic, &i.Payload, &headers, &i.Queue, &i.Priority, &i.Schedule, &i.Zone, (*int)(&i.Misfire), &i.MisfireLimit, (*int)(&i.Overlap),
		&spread, &shift, &i.Enabled, &next, &i.version, &lastError, &i.CreatedAt, &i.UpdatedAt, &i.now, &last, &lastTime, &status)
	if err != nil && i.Name == "" {
		return i, err
	}
	if headers != nil && json.Unmarshal([]byte(*headers), &i.Headers) == nil {
		delete(i.Headers, Header)
	}
	i.Spread = time.Duration(spread) * time.Microsecond
	i.NextRun, i.LastRunTime = work.Value(next).UTC(), work.Value(lastTime).UTC()
	i.LastRunID, i.LastRunStatus = work.Value(last), statusOf(status)
	i.LastError, i.CreatedAt, i.UpdatedAt = work.Value(lastError), i.CreatedAt.UTC(), i.UpdatedAt.UTC()
	fault := engine.Unreadable(err, engine.CleanText("name", &i.Name), engine.CleanText("topic", &i.Topic), engine.CleanText("schedule", &i.Schedule), engine.CleanText("zone", &i.Zone),
		engine.CleanTime("next time", &i.NextRun), engine.CleanTime("time of the last run", &i.LastRunTime),
		engine.CleanTime("time of creation", &i.CreatedAt), engine.CleanTime("time of change", &i.UpdatedAt))
	if fault != nil {
		i.Unreadable = fault.Error()
	}
	return i, nil
}

// Next returns the next n nominal times of a job, as its schedule has them,
// without what Spread adds. They are none for a disabled job.
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
	t, ok := info.NextRun, !info.NextRun.IsZero()
	for ; ok && len(times) < n; t, ok = schedule.Next(t, zone) {
		times = append(times, t.In(zone))
	}
	return times, nil
}

// Explain tells a schedule in words, and its next n times after a moment, in a
// zone ("" for UTC). It needs no database. Errors are those of Put.
func Explain(schedule, zone string, after time.Time, n int) (words string, times []time.Time, err error) {
	s, loc, err := plan(schedule, zone)
	if err != nil {
		return "", nil, err
	}
	t, ok := s.Next(after, loc)
	if !ok {
		return "", nil, &ScheduleError{Field: "schedule", Err: errNever}
	}
	for ; ok && len(times) < n; t, ok = s.Next(t, loc) {
		times = append(times, t.In(loc))
	}
	return s.Describe(), times, nil
}

// RunID identifies a run, and is the id of its message.
type RunID = outbox.MessageID

// Status is where a run is in its life.
type Status int

// The states of a run. Pending and Running are not final, and a failed run's
// message can be redriven; then it is pending again.
const (
	Pending   Status = 0 // waiting for a worker, also for another attempt
	Running   Status = 1
	Succeeded Status = 2
	Failed    Status = 3
	Cancelled Status = 4 // its message was discarded
	Skipped   Status = 5 // an earlier run was not over (Skip); there is no message
	Missed    Status = 6 // no scheduler was running; there is no message
	Unknown   Status = -1
)

// String returns the status in words.
func (s Status) String() string {
	return word(int(s), "pending", "running", "succeeded", "failed", "cancelled", "skipped", "missed")
}

func statusOf(stored *int64) Status {
	if stored == nil {
		return Unknown
	}
	return Status(*stored)
}

// Run is a run, or the record of why there was none.
type Run struct {
	ID        RunID
	Position  outbox.WorkItemID // of its message
	Job       string
	Scheduled time.Time // nominal time; of a triggered run, when it was triggered
	Triggered bool      // by Trigger, not by the schedule
	Missed    int64     // of Missed: how many times at least, Scheduled being the first
	Status    Status
	CreatedAt time.Time
	StartedAt time.Time // of the first attempt; zero: not yet, or by a worker that knows no jobs
	EndedAt   time.Time // zero: not yet
	Attempts  int       // failed ones that another followed
	LastError string
	// Unreadable is as in Info.
	Unreadable string
}

// RunFilter selects runs. The zero value selects the latest 100.
type RunFilter struct {
	Before *Run // only runs behind this one in the list, to page on; nil: from the beginning
	Limit  int  // default 100, at most 10 000
}

// Runs returns the history of a job, latest nominal time first. It outlives the
// job, so an unknown name is no error.
func (j *Jobs) Runs(ctx context.Context, name string, f RunFilter) ([]*Run, error) {
	before, position := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), int64(math.MaxInt64)
	if f.Before != nil {
		before, position = f.Before.Scheduled, int64(f.Before.Position)
	}
	return j.runs(ctx, "job/runs", name, before, position, limited(f.Limit))
}

// GetRun returns a run, or ErrNotFound.
func (j *Jobs) GetRun(ctx context.Context, id RunID) (*Run, error) {
	found, err := j.runs(ctx, "job/run", int64(id.Position()))
	if err == nil && (len(found) == 0 || found[0].ID != id) {
		err = fmt.Errorf("%w: run %s", ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

func (j *Jobs) runs(ctx context.Context, op string, args ...any) (found []*Run, err error) {
	err = j.db.Read(ctx, &engine.Call{
		Op: op, Args: args,
		Reset: func() { found = found[:0] },
		Each: func(r engine.Row) error {
			run, err := scanRun(r)
			found = append(found, run)
			return err
		},
	})
	return found, err
}

func scanRun(row engine.Row) (*Run, error) {
	r := &Run{}
	var status *int64
	var started, ended *time.Time
	var lastError *string
	err := row.Scan((*[16]byte)(&r.ID), (*int64)(&r.Position), &r.Job, &r.Scheduled, &r.Triggered, &r.Missed, &status, &r.CreatedAt, &started, &ended, &r.Attempts, &lastError)
	r.Status, r.LastError = statusOf(status), work.Value(lastError)
	r.Scheduled, r.CreatedAt, r.StartedAt, r.EndedAt = r.Scheduled.UTC(), r.CreatedAt.UTC(), work.Value(started).UTC(), work.Value(ended).UTC()
	if err != nil && r.Position == 0 {
		return r, err
	}
	fault := engine.Unreadable(err, engine.CleanText("job", &r.Job), engine.CleanTime("scheduled time", &r.Scheduled), engine.CleanTime("time of creation", &r.CreatedAt),
		engine.CleanTime("start", &r.StartedAt), engine.CleanTime("end", &r.EndedAt))
	if fault != nil {
		r.Unreadable = fault.Error()
	}
	return r, nil
}
