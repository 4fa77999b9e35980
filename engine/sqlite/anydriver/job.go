package anydriver

import (
	"time"

	"github.com/bravellian/pawl/engine"
)

// The operations of jobs that SQLite cannot say in one statement.

// jobOperation returns what answers an operation of jobs in Go; nil for a single
// statement.
func jobOperation(name string) opFunc {
	switch name {
	case "put":
		return putJob
	case "enable", "disable":
		return noting("job/"+name, name)
	case "fire":
		return fireJobs
	case "trigger":
		return triggerJob
	case "delete":
		return deleteJob
	case "claim":
		return claimRuns
	case "settle":
		return settleRuns
	case "purge":
		return purgeRuns
	}
	return nil
}

// putJob: args as job/put documents. The payload is stored as text where it is.
func putJob(t *txn, c *engine.Call) error {
	args := append([]any(nil), c.Args[:len(c.Args)-auditArgs]...)
	args[3] = body(arg[[]byte](c, 3))
	t.woke = true
	return doNoted(t, c, "job/put", "put", args...)
}

// fireJobs: args 0 jobs, 1 versions, 2 times they are moved from, 3 to, 4 when
// those are due; 5 jobs of the runs, 6 nominal times, 7 positions, 8 ids, 9 how
// many times were missed. Answers how many messages there are.
func fireJobs(t *txn, c *engine.Call) error {
	var made int64
	for i, job := range arg[[][16]byte](c, 0) {
		moved, err := affected(t, "job/advance", job, arg[[]int64](c, 1)[i], arg[[]time.Time](c, 2)[i], arg[[]*time.Time](c, 3)[i], arg[[]*time.Time](c, 4)[i])
		if err != nil {
			return err
		}
		if moved == 0 {
			continue // somebody else did, or it is another by now
		}
		for k, of := range arg[[][16]byte](c, 5) {
			if of != job {
				continue
			}
			n, err := makeRun(t, job, arg[[]int64](c, 7)[k], arg[[][16]byte](c, 8)[k], arg[[]time.Time](c, 6)[k], arg[[]int64](c, 9)[k], false)
			if err != nil {
				return err
			}
			made += n
		}
	}
	return answer(c, made)
}

// makeRun makes a run of a job and its message, or only its record. It returns 1
// if there is a message.
func makeRun(t *txn, job [16]byte, position int64, id [16]byte, nominal any, missed int64, triggered bool) (int64, error) {
	if n, err := affected(t, "job/record", job, position, id, nominal, missed, triggered); err != nil || n == 0 {
		return 0, err
	}
	n, err := affected(t, "job/run_message", job, position)
	if err != nil || n == 0 {
		return 0, err
	}
	t.woke = true
	for _, statement := range []string{"job/run_ready", "job/run_last"} {
		if _, err := t.exec(statement, job, position); err != nil {
			return 0, err
		}
	}
	return 1, nil
}

// named finds the job of a name; ok is false if there is none.
func named(t *txn, name any) (job [16]byte, ok bool, err error) {
	err = t.query("job/id", func(r engine.Row) error {
		ok = true
		return r.Scan(&job)
	}, name)
	return job, ok, err
}

// triggerJob: args 0 name, 1 position, 2 id of the run, and those of a note. Answers
// 0 for an unknown job.
func triggerJob(t *txn, c *engine.Call) error {
	job, ok, err := named(t, c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		return answer(c, 0)
	}
	n, err := makeRun(t, job, arg[int64](c, 1), arg[[16]byte](c, 2), nil, 0, true)
	if err != nil {
		return err
	}
	return noted(t, c, "trigger", c.Args[3:], n)
}

// deleteJob: args 0 name, and those of a note. Takes back the runs that nobody has claimed, and
// answers 0 for an unknown job.
func deleteJob(t *txn, c *engine.Call) error {
	job, ok, err := named(t, c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		return answer(c, 0)
	}
	pending, err := positions(t, "job/pending", job)
	if err != nil {
		return err
	}
	taken, err := withdraw(t, pending, false)
	if err != nil {
		return err
	}
	for _, r := range taken {
		reason := "the job was deleted"
		if err := over(t, []run{r}, statusDiscarded, &reason); err != nil {
			return err
		}
		if _, err := t.exec("job/forget_run", r.Lo); err != nil {
			return err
		}
	}
	if err := countSteps(t, stepFailed, taken); err != nil {
		return err
	}
	if _, err := t.exec("job/forget", job); err != nil {
		return err
	}
	return noted(t, c, "remove", c.Args[1:], 1)
}

// claimRuns: args 0 owner, 1 lease, 2 how many. Rows: as outbox/claim.
func claimRuns(t *txn, c *engine.Call) error {
	ids, err := suspectsOf(t, "job/suspects", arg[int](c, 2))
	if err != nil {
		return err
	}
	suspects := int64(len(ids))
	if suspects == 0 {
		if ids, err = positions(t, "job/claimable", c.Args[2]); err != nil {
			return err
		}
	}
	taken, err := withdraw(t, ids, true)
	if err != nil {
		return err
	}
	until := t.now + micros(c, 1)
	for _, r := range taken {
		r.LockedUntil, r.Suspect = until, suspects
		if err := toClaim(t, r, arg[[16]byte](c, 0)); err != nil {
			return err
		}
		if _, err := t.exec("job/start", r.Lo); err != nil {
			return err
		}
		if err := t.query("job/claimed", c.Each, r.Lo, r.Retry, until); err != nil {
			return err
		}
	}
	return nil
}

// settleRuns writes down how runs ended, and answers how many.
func settleRuns(t *txn, c *engine.Call) error {
	n, err := affected(t, "job/settle_runs")
	if err != nil {
		return err
	}
	return answer(c, n)
}

// purgeRuns: args 0 age, 1 how many at most. Answers how many went.
func purgeRuns(t *txn, c *engine.Call) error {
	n, err := affected(t, "job/purge_runs", t.now-micros(c, 0), c.Args[1])
	if err != nil {
		return err
	}
	return answer(c, n)
}

// positions reads a column of positions.
func positions(t *txn, statement string, args ...any) (ids []int64, err error) {
	err = t.query(statement, func(r engine.Row) error {
		var id int64
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	}, args...)
	return ids, err
}
