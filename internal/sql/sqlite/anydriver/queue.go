package anydriver

import (
	"sync/atomic"
	"time"
)

// writeQueue counts those of this process that wait for the write lock or write.
type writeQueue struct {
	waiting atomic.Int64
	last    atomic.Int64 // when a write began, or the first one began to wait: Unix time in nanoseconds
}

func (q *writeQueue) enter() {
	if q.waiting.Add(1) == 1 {
		q.began()
	}
}

func (q *writeQueue) leave() { q.waiting.Add(-1) }

func (q *writeQueue) began() { q.last.Store(time.Now().UnixNano()) }

// WritesWaiting returns how many of this process wait to write or do so, and since when none of
// them has begun; see engine.WriteQueue.
func (db *DB) WritesWaiting() (n int, since time.Time) {
	return int(db.queue.waiting.Load()), time.Unix(0, db.queue.last.Load())
}
