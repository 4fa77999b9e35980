package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/engine"
)

// lanes remembers which lanes (a queue at a priority) the database is known to
// have, so that enqueuing need not make sure each time.
type lanes struct {
	known sync.Map // lane id → struct{}: seen committed
	mu    sync.Mutex
	next  time.Time // when to ask the database again
}

// register returns the calls that make the lanes of entries known.
func (l *lanes) register(entries []*entry) []*engine.Call {
	var calls []*engine.Call
	var last int64
	seen := map[int64]bool{}
	for i, en := range entries {
		if i > 0 && en.lane == last {
			continue
		}
		last = en.lane
		if _, known := l.known.Load(en.lane); !known && !seen[en.lane] {
			seen[en.lane] = true
			calls = append(calls, &engine.Call{Op: "outbox/lane", Args: []any{en.lane, en.msg.queue(), en.msg.Priority}})
		}
	}
	return calls
}

// committed remembers what register's calls made known.
func (l *lanes) committed(calls []*engine.Call) {
	for _, c := range calls {
		if c.Op == "outbox/lane" {
			l.known.Store(c.Args[0], struct{}{})
		}
	}
}

// How often, and for how long, an enqueue in a caller's transaction asks which
// lanes exist. It may find no free connection: then it asks rarely.
const (
	learnEvery = time.Second
	learnLimit = 500 * time.Millisecond
	learnRetry = time.Minute
)

// learnLanes is for enqueues in a caller's transaction. That may be rolled
// back, so nothing is remembered of what it made known; whether somebody
// committed the lanes of entries is asked over another connection.
func (o *Outbox) learnLanes(ctx context.Context, entries []*entry) {
	if len(o.lanes.register(entries)) == 0 {
		return
	}
	o.lanes.mu.Lock()
	defer o.lanes.mu.Unlock()
	now := time.Now()
	if now.Before(o.lanes.next) {
		return
	}
	o.lanes.next = now.Add(learnEvery)
	ctx, cancel := context.WithTimeout(ctx, learnLimit)
	defer cancel()
	err := o.db.Read(ctx, &engine.Call{Op: "outbox/lanes", Each: func(r engine.Row) error {
		var id, priority int64
		var queue string
		err := r.Scan(&id, &queue, &priority)
		o.lanes.known.Store(id, struct{}{})
		return err
	}})
	if err != nil {
		o.lanes.next = now.Add(learnRetry)
	}
}
