package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func jobs() []engine.Operation {
	return []engine.Operation{
		JobClaim{}, JobDefer{}, JobDelete{}, JobDisable{}, JobDue{}, JobEnable{}, JobFire{}, JobGet{}, JobList{}, JobNextDue{},
		JobPurge{}, JobPut{}, JobRun{}, JobRuns{}, JobSettle{}, JobStart{}, JobTrigger{},
	}
}

// JobSpec is what a program says of a job.
type JobSpec struct {
	ID           [16]byte
	Name         string
	Topic        string
	Payload      []byte
	Headers      *string
	Schedule     string
	Zone         string
	Misfire      int
	MisfireLimit int
	Overlap      int
	Spread       int64 // microseconds
	Shift        int64 // this job's part of them
}

// Job is a job as it is stored, with its last run and the database's clock.
type Job struct {
	JobSpec
	Enabled       bool
	Version       int64
	LastError     *string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Queue         string
	Priority      int
	NextTime      *time.Time // nominal time of the next run
	Now           time.Time
	LastRunID     *[16]byte
	LastRunTime   *time.Time // when it began or, until it does, when it was made
	LastRunStatus *int64
}

// NewJob is a job to be stored; its ID counts if it is new.
type NewJob struct {
	JobSpec
	Lane     int64
	NextTime time.Time
	DueAt    time.Time // NextTime and Shift
}

// DueJob is a job whose time has come, as far as it takes to move it on.
type DueJob struct {
	ID           [16]byte
	Name         string
	Schedule     string
	Zone         string
	Topic        string
	Misfire      int
	MisfireLimit int
	Shift        int64 // microseconds
	Version      int64
	NextTime     *time.Time // nil also for a time that Go cannot tell
	LaneKnown    bool
	Now          time.Time
}

// JobMove is a job on its way to its next time.
type JobMove struct {
	ID      [16]byte
	Version int64
	From    time.Time
	To      *time.Time // nil: it never fires again
	Due     *time.Time // when To is
}

// NewJobRun is a run to be made, or the record of why there is none.
type NewJobRun struct {
	JobID   [16]byte
	Nominal time.Time
	ID      int64 // the position of its message
	RunID   [16]byte
	Missed  int64 // how many times were, Nominal being the first; 0: it is a run
}

// JobRunItem is a run of a job as it is stored.
type JobRunItem struct {
	RunID         [16]byte
	ID            int64 // the position of its message
	JobName       string
	ScheduledTime time.Time
	Triggered     bool
	Missed        int64
	Status        *int64 // nil: the message is gone
	CreatedAt     time.Time
	StartTime     *time.Time
	EndTime       *time.Time
	RetryCount    int
	LastError     *string
}

// JobClaim takes due runs under a lease, and notes that they begin: suspects, or others
// where there are none.
type JobClaim struct {
	engine.Rows[OutboxClaimed]
	Owner [16]byte
	Lease time.Duration
	Most  int
}

// JobDefer has a broken job looked at again after a while, unless it is another by now.
type JobDefer struct {
	engine.Changes
	ID      [16]byte
	Version int64
	Delay   time.Duration
	Error   string
}

// JobDelete deletes a job and takes back the runs that nobody has claimed. It answers 0
// for an unknown job.
type JobDelete struct {
	engine.Number
	Name string
	Note Note
}

// JobDisable has a job make no runs. It changes one row, or none if the job makes none.
type JobDisable struct {
	engine.Changes
	Name string
	Note Note
}

// JobDue reads due jobs, first due first. One that is broken does not stop the others.
type JobDue struct {
	engine.Rows[DueJob]
	Most int
}

// JobEnable has a job make runs again. It changes one row, or none if it is another by
// now.
type JobEnable struct {
	engine.Changes
	Name     string
	Version  int64
	NextTime time.Time
	DueAt    time.Time
	Note     Note
}

// JobFire moves jobs on and makes their runs, unless somebody else did. It answers how
// many messages there are.
type JobFire struct {
	engine.Number
	Jobs []JobMove
	Runs []NewJobRun
}

// JobGet reads a job. One row, or none.
type JobGet struct {
	engine.Rows[Job]
	Name string
}

// JobList reads jobs in order of their names.
type JobList struct {
	engine.Rows[Job]
	After string // only names behind this one
	Most  int
}

// JobNextDue asks when a job is due.
type JobNextDue struct{ engine.Rows[Wait] }

// JobPurge forgets runs that ended longer ago than Age, but for each job's last.
type JobPurge struct {
	engine.Changes
	Age  time.Duration
	Most int
}

// JobPut stores a job. It changes no row if the job is stored like this. Unless the
// schedule changes, the next time stays (D-83).
type JobPut struct {
	engine.Changes
	NewJob
	Note Note
}

// JobRun reads the run at a position. One row, or none.
type JobRun struct {
	engine.Rows[JobRunItem]
	ID int64
}

// JobRuns reads runs of a job, latest nominal time first: those before a time and a
// position.
type JobRuns struct {
	engine.Rows[JobRunItem]
	Name          string
	ScheduledTime time.Time
	ID            int64
	Most          int
}

// JobSettle writes down how runs ended, and answers how many.
type JobSettle struct{ engine.Number }

// JobStart notes that a run begins, if that is its first attempt.
type JobStart struct {
	engine.Changes
	ID int64
}

// JobTrigger runs a job now. It answers 0 for an unknown job.
type JobTrigger struct {
	engine.Number
	Name  string
	ID    int64 // the position of the run's message
	RunID [16]byte
	Note  Note
}
