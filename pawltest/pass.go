package pawltest

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Pass lets time pass as a running program would see it: it moves the clock to the
// next moment at which something is due and drains, over and over, until by has
// passed. So a daily job runs three times in three days, and what fails is tried
// again when its time comes. Left is what is left in the end. SQLite only.
func (d *DB) Pass(ctx context.Context, by time.Duration) (*Drained, error) {
	d.Clock.t.Helper()
	d.Clock.check()
	total := &Drained{}
	for end := d.Clock.Now().Add(by); ; {
		r, err := d.Drain(ctx)
		total.Timers, total.Jobs, total.Handled, total.Left = total.Timers+r.Timers, total.Jobs+r.Jobs, append(total.Handled, r.Handled...), r.Left
		if err != nil {
			return total, err
		}
		rest := end.Sub(d.Clock.Now())
		if rest <= 0 {
			return total, nil
		}
		next, err := d.nextDue(ctx, rest)
		if err != nil {
			return total, fmt.Errorf("pawltest: %w", err)
		}
		d.Clock.move(next)
	}
}

// nextDue is how long until something is due, at most a limit. What is due but
// could not be had a moment ago, because somebody has it, is left behind by small
// steps.
func (d *DB) nextDue(ctx context.Context, limit time.Duration) (time.Duration, error) {
	next := limit
	consider := func(due time.Duration, ok bool, err error) error {
		if ok {
			next = min(next, max(due, time.Millisecond))
		}
		return err
	}
	for _, a := range d.process.Sources() {
		if err := consider(a.NextDue(ctx)); err != nil {
			return 0, err
		}
	}
	for _, queue := range d.queues {
		if err := consider(worker.NextDue(ctx, d.engine, op.OutboxNextDue{Queue: queue})); err != nil {
			return 0, err
		}
	}
	return next, nil
}
