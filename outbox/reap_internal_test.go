package outbox

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// slowReaper is a database in which a transaction that reaps takes a second.
type slowReaper struct {
	engine.DB
	reaping atomic.Int32
	most    atomic.Int32
}

func (db *slowReaper) Do(_ context.Context, calls ...*engine.Call) error {
	for _, c := range calls {
		if _, ok := c.Operation.(op.OutboxReap); ok {
			db.most.Store(max(db.most.Load(), db.reaping.Add(1)))
			time.Sleep(time.Second)
			db.reaping.Add(-1)
		}
	}
	return nil
}

// D-19: a loop that ends when nothing is left waits for another one that is just putting its
// messages back.
func TestReapsOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &slowReaper{}
		o, _ := New(access.Key{}, db, worker.Options{Queues: []string{"a", "b"}})
		var loops sync.WaitGroup
		for _, queue := range o.opts.Queues {
			loops.Go(func() {
				if _, err := (&source{o: o, queue: queue}).Reap(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		loops.Wait()
		if n := db.most.Load(); n != 1 {
			t.Errorf("%d loops reaped at once", n)
		}
	})
}
