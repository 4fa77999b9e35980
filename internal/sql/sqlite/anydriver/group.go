package anydriver

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// job is one Do: calls that commit or fail together.
type job struct {
	ctx   context.Context // its caller's
	calls []*engine.Call
}

// probeOf returns, for an operation that usually has nothing to do, the statement that tests
// that without the write lock. An idle worker must not delay writers.
func probeOf(c *engine.Call) engine.Operation {
	switch o := c.Operation.(type) {
	case op.OutboxClaim:
		return outboxClaimDue{Queue: o.Queue}
	case op.OutboxClaimAny:
		return outboxClaimDue{Queue: o.Queue, Suspects: true}
	case op.OutboxClaimSuspects:
		return outboxSuspectsDue{Queue: o.Queue}
	case op.OutboxSuspects:
		return outboxSuspectsDue{Queue: o.Queue}
	case op.OutboxAdopt:
		return outboxOrphans{}
	case op.OutboxReap:
		return outboxReapDue{}
	case op.TimerDispatch:
		return timerDispatchDue{}
	case op.TimerReap:
		return timerReapDue{}
	}
	return nil
}

// Do runs the calls in one transaction, which calls of other goroutines may share: one fsync
// for all (group commit). Each job of the group succeeds or fails by itself.
func (db *DB) Do(ctx context.Context, calls ...*engine.Call) error {
	if err := db.CheckOutside(ctx, calls[0].Name(), ""); err != nil {
		return err
	}
	busy, err := db.anyDue(ctx, calls)
	if err != nil || !busy {
		for _, c := range calls {
			c.Begin()
		}
		return err
	}
	db.queue.enter()
	defer db.queue.leave()
	return db.group.Do(ctx, &job{ctx, calls})
}

// anyDue reports whether any of the calls has something to do.
func (db *DB) anyDue(ctx context.Context, calls []*engine.Call) (busy bool, err error) {
	for _, c := range calls {
		if probeOf(c) == nil {
			return true, nil
		}
	}
	for _, c := range calls {
		look := &engine.Call{Operation: probeOf(c), Each: func(engine.Row) error { busy = true; return errStop }}
		if err := db.Read(ctx, look); err != nil || busy {
			return busy, err
		}
	}
	return false, nil
}

// commitGroup runs a group of jobs in one immediate transaction.
func (db *DB) commitGroup(ctx context.Context, jobs []*job) []error {
	errs := make([]error, len(jobs))
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	wanted, stop := untilAllDone(ctx, jobs)
	defer stop()
	err := db.checkFiles(ctx)
	if err == nil {
		err = acquire(wanted, db.lock)
	}
	if err == nil {
		err = db.writer.use(wanted, func(s *session) error {
			s.ctx = context.Background() // watching a context costs more than most statements
			if err := beginImmediate(wanted, s.dc); err != nil {
				return err
			}
			db.queue.began()
			db.watch.ownBegin()
			defer db.watch.ownEnd(s)
			return db.transact(ctx, s, jobs, errs)
		})
		<-db.lock
	}
	if err != nil {
		for i, j := range jobs {
			errs[i] = wrap(j.calls[0].Name(), err)
		}
	}
	return errs
}

// untilAllDone returns a context that ends when the contexts of all callers have: then the
// write lock need not be waited for any more.
func untilAllDone(ctx context.Context, jobs []*job) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wanted atomic.Int64
	wanted.Store(int64(len(jobs)))
	stops := make([]func() bool, len(jobs))
	for i, j := range jobs {
		stops[i] = context.AfterFunc(j.ctx, func() {
			if wanted.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// transact sets errs to the jobs' own errors and returns one that applies to all of them.
func (db *DB) transact(ctx context.Context, s *session, jobs []*job, errs []error) error {
	var calls []*engine.Call
	for _, j := range jobs {
		calls = append(calls, j.calls...)
	}
	t := db.begin(s, calls...)
	t.limit = ctx
	err := db.guard.check()
	if err == nil {
		err = db.checkGeneration(ctx, t, s, needsGeneration(jobs))
	}
	if err == nil {
		err = db.runJobs(ctx, t, s, jobs, errs)
	}
	if err != nil {
		_, _ = s.exec(rollback, nil)
		return err
	}
	if _, err := s.exec(commit, nil); err != nil {
		_, _ = s.exec(rollback, nil)
		return err
	}
	if t.woke || !allQuiet(jobs) {
		db.notifier.NotifyAll()
	}
	return db.guard.committed()
}

// allQuiet reports whether jobs add no work that somebody waits for: enqueued messages are
// notified of by the component, to the workers of their queue alone, and the others end work.
func allQuiet(jobs []*job) bool {
	for _, j := range jobs {
		for _, c := range j.calls {
			switch c.Operation.(type) {
			case op.OutboxEnqueue, op.OutboxEnqueueClaimed, op.OutboxEnqueueOnce, op.OutboxClaim, op.OutboxClaimAny, op.OutboxClaimSuspects, op.OutboxAck, op.OutboxExtend,
				op.ActivityCount, outboxReserve, op.GenerationCheck:
			default:
				return false
			}
		}
	}
	return true
}

// runJobs returns an error if the whole transaction is to be rolled back.
func (db *DB) runJobs(ctx context.Context, t *txn, s *session, jobs []*job, errs []error) error {
	if len(jobs) == 1 {
		return db.runJob(t, jobs[0])
	}
	for i, j := range jobs {
		if err := errors.Join(j.ctx.Err(), ctx.Err()); err != nil {
			errs[i] = wrap(j.calls[0].Name(), err)
			continue
		}
		if err := db.runInSavepoint(t, s, j, &errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// runInSavepoint runs a job inside a savepoint, so that its failure undoes only its own
// statements.
func (db *DB) runInSavepoint(t *txn, s *session, j *job, own *error) error {
	if _, err := s.exec("SAVEPOINT job", nil); err != nil {
		return err
	}
	if *own = db.runJob(t, j); *own != nil {
		if _, err := s.exec("ROLLBACK TO job", nil); err != nil {
			return errors.Join(*own, err)
		}
	}
	_, err := s.exec("RELEASE job", nil)
	return err
}

func (db *DB) runJob(t *txn, j *job) error {
	if err := engine.CheckGeneration(db.Generation(), j.calls); err != nil {
		return err
	}
	for _, c := range j.calls {
		if err := db.run(t, c); err != nil {
			return err
		}
	}
	return nil
}
