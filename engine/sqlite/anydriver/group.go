package anydriver

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bravellian/pawl/engine"
)

// job is one Do: calls that commit or fail together.
type job struct {
	ctx   context.Context // its caller's
	calls []*engine.Call
}

// idle names, for operations that usually find nothing to do, the statement
// that tells without the write lock. An idle worker must not delay writers.
func idle(op string) string {
	switch op {
	case "outbox/claim", "outbox/claim_any":
		return "outbox/claim_due"
	case "outbox/claim_suspects", "outbox/suspects":
		return "outbox/suspects_due"
	case "outbox/adopt":
		return "outbox/orphans"
	case "outbox/reap":
		return "outbox/reap_due"
	}
	return ""
}

// Do runs the calls in one transaction, which calls of other goroutines may
// share: one fsync for all (group commit). Each job of the group still stands
// or falls alone.
func (db *DB) Do(ctx context.Context, calls ...*engine.Call) error {
	busy, err := db.anyBusy(ctx, calls)
	if err != nil || !busy {
		forget(calls)
		return err
	}
	return db.group.Do(ctx, &job{ctx, calls})
}

// forget sets calls back to before their first attempt.
func forget(calls []*engine.Call) {
	for _, c := range calls {
		c.N = 0
		if c.Reset != nil {
			c.Reset()
		}
	}
}

// idles reports whether a call usually finds nothing to do.
func idles(c *engine.Call) bool { return idleTimers(c.Operation) != nil || idle(c.Name()) != "" }

// look asks whether a call that usually finds nothing to do would find something.
func look(c *engine.Call) *engine.Call {
	if o := idleTimers(c.Operation); o != nil {
		return &engine.Call{Operation: o}
	}
	l := &engine.Call{Op: idle(c.Name())}
	switch c.Name() {
	case "outbox/claim", "outbox/claim_any":
		l.Args = []any{c.Args[0], c.Name() == "outbox/claim_any"}
	case "outbox/claim_suspects", "outbox/suspects":
		l.Args = c.Args[:1]
	}
	return l
}

// anyBusy reports whether some of the calls would find anything to do.
func (db *DB) anyBusy(ctx context.Context, calls []*engine.Call) (busy bool, err error) {
	for _, c := range calls {
		if !idles(c) {
			return true, nil
		}
	}
	for _, c := range calls {
		l := look(c)
		l.Each = func(engine.Row) error { busy = true; return nil }
		if err := db.Read(ctx, l); err != nil || busy {
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
	wanted, stop := whileWanted(ctx, jobs)
	defer stop()
	err := db.sound(ctx)
	if err == nil {
		err = acquire(wanted, db.lock)
	}
	if err == nil {
		err = db.writer.use(wanted, func(s *session) error {
			s.ctx = context.Background() // a watcher per statement costs more than most statements
			if err := beginImmediate(wanted, s.dc); err != nil {
				return err
			}
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

// whileWanted returns a context that ends when all callers have given up: then
// nobody has to wait for the write lock any more.
func whileWanted(ctx context.Context, jobs []*job) (context.Context, func()) {
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

// transact fills errs with the jobs' own errors and returns one that holds for
// all of them.
func (db *DB) transact(ctx context.Context, s *session, jobs []*job, errs []error) error {
	t := &txn{db: db, run: s, now: db.now(), limit: ctx}
	err := db.guard.check()
	if err == nil {
		err = db.lookSometimes(ctx, t, s, looks(jobs))
	}
	if err == nil {
		err = db.runJobs(ctx, t, s, jobs, errs)
	}
	if err != nil {
		_, _ = s.exec("ROLLBACK", nil)
		return err
	}
	if _, err := s.exec("COMMIT", nil); err != nil {
		_, _ = s.exec("ROLLBACK", nil)
		return err
	}
	if t.woke {
		db.bell.RingAll()
	}
	return db.guard.committed()
}

// runJobs returns an error if the transaction as a whole is to be undone.
func (db *DB) runJobs(ctx context.Context, t *txn, s *session, jobs []*job, errs []error) error {
	if len(jobs) == 1 {
		return db.runJob(t, jobs[0])
	}
	for i, j := range jobs {
		if err := errors.Join(j.ctx.Err(), ctx.Err()); err != nil {
			errs[i] = wrap(j.calls[0].Name(), err)
			continue
		}
		if err := db.runApart(t, s, j, &errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// runApart runs a job inside a savepoint, so that its failure takes back its
// own statements and nobody else's.
func (db *DB) runApart(t *txn, s *session, j *job, own *error) error {
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
