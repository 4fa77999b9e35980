package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// D-110: a clean-up that takes long does not count as hanging.
func TestALongCleanUpIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var cleanup *worker.Cleanup
		cleanup = worker.NewCleanup("c", "c", slog.New(slog.DiscardHandler), func(ctx context.Context) (int64, error) {
			time.Sleep(30 * time.Minute)
			if late := time.Since(cleanup.Status().NextTurn); late > 0 {
				t.Errorf("late by %v", late)
			}
			stop()
			return 0, nil
		})
		go cleanup.Run(ctx)
		<-ctx.Done()
		synctest.Wait()
	})
}

// crowded is a source of which a lot is due.
type crowded struct {
	left int
	fire func()
}

func (c *crowded) Name() string { return "crowded" }
func (c *crowded) Dispatch(context.Context) (int64, error) {
	c.fire()
	c.left--
	return int64(max(c.left, 0)), nil
}
func (c *crowded) NextDue(context.Context) (time.Duration, bool, error) { return 0, false, nil }

// D-110: nor does a scheduler that has much to dispatch.
func TestAScheduleThatFiresForLongIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tracker worker.LoopTracker
		c := &crowded{left: 20, fire: func() {
			if last := time.Since(tracker.Status("").LastTurn); last > time.Minute {
				t.Errorf("went round %v ago", last)
			}
			time.Sleep(time.Minute)
		}}
		worker.NewScheduler(worker.ScheduleConfig{Sources: []worker.Source{c}, Logger: slog.New(slog.DiscardHandler), Tracker: &tracker}).Dispatch(t.Context())
		if c.left != 0 {
			t.Errorf("%d left", c.left)
		}
	})
}
