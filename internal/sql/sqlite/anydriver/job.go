package anydriver

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

type jobPutRow struct {
	engine.Changes
	op.NewJob
	Body any
}

// putJob stores a job; its payload is stored as text if it is text.
func putJob(t *txn, o op.JobPut) (int64, error) {
	t.woke = true
	return t.changeAudited(o.Note, "put", jobPutRow{NewJob: o.NewJob, Body: body(o.Payload)})
}

type jobAdvance struct {
	engine.Changes
	op.JobMove
}

// fireJobs sets the next times of jobs, creates their runs, and returns how many messages it created.
func fireJobs(t *txn, o op.JobFire) (made int64, err error) {
	for _, job := range o.Jobs {
		moved, err := t.change(jobAdvance{JobMove: job})
		if err != nil {
			return 0, err
		}
		if moved == 0 {
			continue // another process did, or its version changed
		}
		for _, r := range o.Runs {
			if r.JobID != job.ID {
				continue
			}
			n, err := makeRun(t, r, false)
			if err != nil {
				return 0, err
			}
			made += n
		}
	}
	return made, nil
}

type jobRecord struct {
	engine.Changes
	op.NewJobRun
	Triggered bool
}

// runOf is a run and its job.
type runOf struct {
	JobID [16]byte
	ID    int64
}

type (
	// jobRunMessage creates the message of a run, unless the run is only a record.
	jobRunMessage ofRun
	// jobRunReady makes the message of a run ready.
	jobRunReady ofRun
	// jobRunLast records the last run of a job.
	jobRunLast ofRun
)

// makeRun creates a run of a job and its message, or only its record. It returns 1 if there
// is a message.
func makeRun(t *txn, r op.NewJobRun, triggered bool) (int64, error) {
	if n, err := t.change(jobRecord{NewJobRun: r, Triggered: triggered}); err != nil || n == 0 {
		return 0, err
	}
	of := runOf{r.JobID, r.ID}
	n, err := t.change(jobRunMessage{runOf: of})
	if err != nil || n == 0 {
		return 0, err
	}
	t.woke = true
	return 1, t.do(jobRunReady{runOf: of}, jobRunLast{runOf: of})
}

// jobID reads the id of a job by name.
type jobID struct {
	engine.Rows[jobFound]
	Name string
}

type jobFound struct{ ID [16]byte }

// triggerJob creates a run now. It returns 0 for an unknown job.
func triggerJob(t *txn, o op.JobTrigger) (int64, error) {
	job, known, err := one(t, jobID{Name: o.Name})
	if err != nil || !known {
		return 0, err
	}
	n, err := makeRun(t, op.NewJobRun{JobID: job.ID, Nominal: time.UnixMicro(t.now), ID: o.ID, RunID: o.RunID}, true)
	if err != nil {
		return 0, err
	}
	return n, t.audit(o.Note, "trigger", n)
}

// jobPending reads the runs of a job whose message may still be cancelled.
type jobPending struct {
	engine.Rows[position]
	JobID [16]byte
}

type jobForgetRun byID

type jobForget struct {
	engine.Changes
	ID [16]byte
}

// deleteJob deletes a job and its runs that are not claimed. It returns 0 for an unknown job.
func deleteJob(t *txn, o op.JobDelete) (int64, error) {
	job, known, err := one(t, jobID{Name: o.Name})
	if err != nil || !known {
		return 0, err
	}
	pending, err := positions(t, jobPending{JobID: job.ID})
	if err != nil {
		return 0, err
	}
	taken, err := discardWaiting(t, pending, "the job was deleted")
	if err != nil {
		return 0, err
	}
	for _, r := range taken {
		if err := t.do(jobForgetRun{ID: r.Lo}); err != nil {
			return 0, err
		}
	}
	if err := t.do(jobForget{ID: job.ID}); err != nil {
		return 0, err
	}
	return 1, t.audit(o.Note, "remove", 1)
}

// jobSuspects reads due runs that are suspects.
type jobSuspects struct {
	engine.Rows[suspect]
	Most int
}

// jobClaimable reads due runs that are not suspects.
type jobClaimable struct {
	engine.Rows[position]
	Most int
}

// jobClaimed reads the message of a run that was claimed.
type jobClaimed struct {
	engine.Rows[op.OutboxClaimed]
	ID    int64
	Retry int64
	Until int64
}

// claimRuns claims due runs under a lease, and records their start. One that is put back goes to
// the lane of its message: the pause, whose lane it may have been in, may have ended.
func claimRuns(t *txn, o op.JobClaim, each func(engine.Row) error) error {
	ids, suspects, err := dueOf(t, jobSuspects{Most: o.Most}, jobClaimable{Most: o.Most}, o.Most)
	if err != nil {
		return err
	}
	taken, err := withdraw(t, ids, true)
	if err != nil {
		return err
	}
	until := t.now + o.Lease.Microseconds()
	for _, r := range taken {
		lane, _, err := one(t, outboxMessageLane{ID: r.Lo})
		if err != nil {
			return err
		}
		r.Lane, r.LockedUntil, r.Suspect = lane.Lane, until, int64(suspects)
		if err := t.do(outboxClaimInsert{run: r, Owner: o.Owner}, op.JobStart{ID: r.Lo}); err != nil {
			return err
		}
		if err := t.ask(jobClaimed{ID: r.Lo, Retry: r.Retry, Until: until}, each); err != nil {
			return err
		}
	}
	return nil
}

// position is a row with one position.
type position struct{ ID int64 }

// positions reads a column of positions.
func positions(t *txn, statement engine.Answering[position]) (ids []int64, err error) {
	err = each(t, statement, func(p *position) error { ids = append(ids, p.ID); return nil })
	return ids, err
}
