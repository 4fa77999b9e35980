package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// JobSpec is the definition of a job by a program.
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
	Shift        int64 // this job's offset within them
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

// DueJob is a job whose time has come, with what is needed to dispatch it.
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
	NextTime     *time.Time // nil also for a time that Go cannot represent
	LaneKnown    bool
	Now          time.Time
}

// JobMove sets the next time of a job.
type JobMove struct {
	ID      [16]byte
	Version int64
	From    time.Time
	To      *time.Time // nil: it never runs again
	Due     *time.Time // when To is due
}

// NewJobRun is a run to be created, or the record of one that was missed.
type NewJobRun struct {
	JobID   [16]byte
	Nominal time.Time
	ID      int64 // the position of its message
	RunID   [16]byte
	Missed  int64 // how many times were missed, Nominal being the first; 0: it is a run
}

// JobRunItem is a run of a job as it is stored.
type JobRunItem struct {
	RunID         [16]byte
	ID            int64 // the position of its message
	JobName       string
	ScheduledTime time.Time
	Triggered     bool
	Missed        int64
	Status        *int64 // nil: the message was deleted
	CreatedAt     time.Time
	StartTime     *time.Time
	EndTime       *time.Time
	RetryCount    int
	LastError     *string
}

// JobClaim claims due runs under a lease, and records their start: suspects, or others where
// there are none.
type JobClaim struct {
	engine.Rows[OutboxClaimed]
	Owner [16]byte
	Lease time.Duration
	Most  int
}

// JobDefer makes a broken job due again after a delay, unless its version changed.
type JobDefer struct {
	engine.Changes
	ID      [16]byte
	Version int64
	Delay   time.Duration
	Error   string `text:"any"`
}

// JobDelete deletes a job and its runs that are not claimed. It returns 0 for an unknown
// job.
type JobDelete struct {
	engine.Number `call:"act_job_remove"`
	Name          string
	Note          Note
}

// JobDisable disables a job. It changes one row, or none if it was disabled.
type JobDisable struct {
	engine.Changes
	Name string
	Note Note
}

// JobDue reads due jobs, first due first. A broken one does not stop the others.
type JobDue struct {
	engine.Rows[DueJob]
	Most int
}

// JobEnable enables a job. It changes one row, or none if its version changed.
type JobEnable struct {
	engine.Changes
	Name     string
	Version  int64
	NextTime time.Time
	DueAt    time.Time
	Note     Note
}

// JobFire sets the next times of jobs and creates their runs, unless their version changed.
// It returns how many messages it created.
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
	After string // only names after this one
	Most  int
}

// JobNextDue reads when a job is due.
type JobNextDue struct{ engine.Rows[Wait] }

// JobPlan sets the first times of a job that is due to be planned, unless its version changed or
// another process did. It changes one row, or none.
type JobPlan struct {
	engine.Changes
	ID       [16]byte
	Version  int64
	NextTime time.Time
	DueAt    time.Time
}

// JobPurge deletes runs that ended longer ago than Age, except each job's last.
type JobPurge struct {
	engine.Changes
	engine.Bounded
	Age  time.Duration
	Most int
}

// JobPut stores a job. It changes no row if it is stored already. Unless the schedule
// changes, the next time stays (D-83).
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
	engine.Bounded
	Name          string
	ScheduledTime time.Time
	ID            int64
	Most          int
}

// JobSettle records how runs ended, and returns how many.
type JobSettle struct{ engine.Number }

// JobStart records the start of a run, if that is its first attempt.
type JobStart struct {
	engine.Changes
	ID int64
}

// JobTrigger runs a job now. It returns 0 for an unknown job.
type JobTrigger struct {
	engine.Number
	Name  string
	ID    int64 // the position of the run's message
	RunID [16]byte
	Note  Note
}
