package admin_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// many is more runs than one transaction brings back: messages of two topics that
// alternate are a run each.
const many = 1100

// halted is a resume that is cut off after its first transaction.
func (f *fixture) halted() {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.ctx())
	defer cancel()
	cut := on(f.t, f.db, &flaky{DB: f.db.DB, fail: func(string) bool { return false }, did: func(op string) {
		if op == "pause/unpark" {
			cancel()
		}
	}}, pawl.Options{})
	was, err := cut.Admin.Resume(ctx, admin.Topic, "p")
	if !was || !errors.Is(err, context.Canceled) {
		f.t.Fatalf("the resume that is cut off said %v, %v", was, err)
	}
	if all := f.paused(); len(all) != 1 || !all[0].Ending {
		f.t.Fatalf("then there are %+v", all)
	}
	f.wantParked(many - 1000)
}

// A resume that is interrupted leaves a pause that ends: no worker obeys it, and
// whoever resumes again brings all of it back.
func TestResumeInterrupted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.mixed(many, "p", "q")
		f.pause(admin.Topic, "p")
		f.drain(done)
		f.wantParked(many)
		f.halted()
		f.resume(admin.Topic, "p")
		f.wantParked(0)
		if all := f.paused(); len(all) != 0 {
			t.Fatalf("then there are %+v", all)
		}
		count := newTally()
		f.drain(count.Handle)
		count.once(t, many)
		f.counts(outbox.Counts{Done: 2 * many})
		f.resumes(false, admin.Topic, "p")
		f.db.CheckPlaces(t)
	})
}

// A process that resumes may die meanwhile: the next worker brings the rest back.
func TestResumeTakenOver(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.mixed(many, "p", "q")
		f.pause(admin.Topic, "p")
		f.drain(done)
		f.halted()
		worker := on(t, f.db, f.db.Another(t), pawl.Options{})
		count := newTally()
		worker.Handle("p", count.Handle)
		worker.start()
		f.untilCounts("all are handled", outbox.Counts{Done: 2 * many})
		count.once(t, many)
		dbtest.Until(t, "the pause is forgotten", func() bool { return len(f.paused()) == 0 })
		f.db.CheckPlaces(t)
	})
}

// Pausing a topic again while its pause ends keeps the rest parked.
func TestPausedWhileEnding(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.mixed(many, "p", "q")
		f.pause(admin.Topic, "p")
		f.drain(done)
		f.halted()
		f.pause(admin.Topic, "p")
		f.pauses(false, admin.Topic, "p")
		if all := f.paused(); len(all) != 1 || all[0].Ending {
			t.Fatalf("then there are %+v", all)
		}
		count := newTally()
		f.drain(count.Handle)
		count.once(t, 0)
		f.wantParked(many)
		f.resume(admin.Topic, "p")
		f.wantParked(0)
		f.drain(count.Handle)
		count.once(t, many)
		f.db.CheckPlaces(t)
	})
}

// Workers that sleep hear of what comes back, in whatever process.
func TestResumeWakes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		worker := on(t, f.db, f.db.Another(t), pawl.Options{})
		count := newTally()
		worker.Handle("p", count.Handle)
		f.pause(admin.Topic, "p")
		f.pause(admin.Queue, outbox.DefaultQueue)
		f.mixed(3, "p")
		worker.start()
		f.resume(admin.Queue, outbox.DefaultQueue)
		dbtest.Until(t, "they are parked", func() bool { return f.db.Aside(t) == 3 })
		f.resume(admin.Topic, "p")
		f.untilCounts("all are handled", outbox.Counts{Done: 3})
		count.once(t, 3)
	})
}

// Workers in two processes, producers, and somebody who pauses and resumes all the
// while: in the end every message was handled once, and nothing is parked.
func TestToggledAmongWorkers(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		count := newTally()
		for range 3 {
			w := f.another(pawl.Options{Concurrency: 4, BatchSize: 16, Lease: time.Minute, Queues: []string{outbox.DefaultQueue, "other"}})
			for _, topic := range []string{"p", "q"} {
				w.Handle(topic, count.Handle)
			}
			w.start()
			defer w.keepLooking()()
		}
		const batches, size = 25, 20
		var busy sync.WaitGroup
		var enqueued atomic.Int64
		busy.Go(func() {
			for i := range batches {
				var msgs []outbox.Message
				for k := range size {
					msgs = append(msgs, outbox.Message{Topic: []string{"p", "q"}[k%2], Queue: []string{outbox.DefaultQueue, "other"}[i%2], Priority: k % 3})
				}
				if _, err := f.Outbox.EnqueueBatch(f.ctx(), msgs); err != nil {
					t.Error(err)
					return
				}
				enqueued.Add(size)
				for int64(count.sum())+8*size < enqueued.Load() && !t.Failed() && f.ctx().Err() == nil { // not all at once
					time.Sleep(time.Millisecond)
				}
			}
		})
		stop := make(chan struct{})
		for i, operator := range []*fixture{f, f.another(pawl.Options{})} {
			busy.Go(func() {
				for k := 0; ; k++ {
					kind, name := admin.Topic, "p"
					if (k+i)%4 == 3 {
						kind, name = admin.Queue, "other"
					}
					for _, change := range []func() error{
						func() error { _, err := operator.Admin.Pause(f.ctx(), kind, name, ""); return err },
						func() error { _, err := operator.Admin.Resume(f.ctx(), kind, name); return err },
					} {
						if err := change(); err != nil {
							t.Error(err)
							return
						}
						select {
						case <-stop:
							_, err := operator.Admin.Resume(f.ctx(), kind, name)
							if err != nil {
								t.Error(err)
							}
							return
						case <-time.After(time.Duration(k%7) * time.Millisecond):
						}
					}
				}
			})
		}
		dbtest.Until(t, "most are handled", func() bool { return count.sum() >= batches*size*3/4 || t.Failed() })
		close(stop)
		busy.Wait()
		f.untilCounts("all are handled", outbox.Counts{Done: batches * size})
		count.once(t, batches*size)
		f.wantParked(0)
		if all := f.paused(); len(all) != 0 {
			t.Errorf("still paused: %+v", all)
		}
		f.db.CheckPlaces(t)
	})
}

// keepLooking has a worker know of pauses at once, not several times a second.
func (f *fixture) keepLooking() (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx())
	var looking sync.WaitGroup
	looking.Go(func() {
		for ctx.Err() == nil {
			_ = admin.PausesOf(f.Admin).Refresh(ctx)
			time.Sleep(time.Millisecond)
		}
	})
	return func() { cancel(); looking.Wait() }
}
