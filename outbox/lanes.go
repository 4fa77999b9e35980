package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// lanes caches which lanes (a queue at a priority) the database has, so that an enqueue need not
// register them each time. The cache is valid for one generation of the database: a failover or a
// restore may remove a lane.
type lanes struct {
	mu         sync.RWMutex
	generation int64
	known      map[int64]struct{} // lane ids that are committed

	asking sync.Mutex
	next   time.Time // when to read them again
}

// has reports whether the database is known to have a lane.
func (l *lanes) has(generation, lane int64) bool {
	if lane == defaultLane {
		return true // every schema has it
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, known := l.known[lane]
	return known && l.generation == generation
}

// defaultLane is the lane of DefaultQueue at priority 0.
const defaultLane = 4828129222919567135

// add adds lanes that were committed in a generation.
func (l *lanes) add(generation int64, ids ...int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if generation == 0 {
		return
	}
	if generation != l.generation || l.known == nil {
		l.generation, l.known = generation, map[int64]struct{}{}
	}
	for _, id := range ids {
		l.known[id] = struct{}{}
	}
}

// register returns the calls that register the lanes of entries.
func (l *lanes) register(generation int64, entries []*entry) []*engine.Call {
	var calls []*engine.Call
	var last int64
	seen := map[int64]bool{}
	for i, en := range entries {
		if i > 0 && en.lane == last {
			continue
		}
		last = en.lane
		if !seen[en.lane] && !l.has(generation, en.lane) {
			seen[en.lane] = true
			calls = append(calls, prepared(op.OutboxLane{ID: en.lane, Queue: en.msg.queue(), Priority: en.msg.Priority, Kind: int(en.kind)}, generation))
		}
	}
	return calls
}

// committed adds the lanes that register's calls registered.
func (l *lanes) committed(calls []*engine.Call) {
	for _, c := range calls {
		if o, ok := c.Operation.(op.OutboxLane); ok {
			l.add(c.Generation, o.ID)
		}
	}
}

// How often, and with which timeout, an enqueue in a caller's transaction reads which lanes exist.
// There may be no free connection: then it reads them rarely.
const (
	learnEvery = time.Second
	learnLimit = 500 * time.Millisecond
	learnRetry = time.Minute
)

// refreshLanes is for enqueues in a caller's transaction. That may be rolled back, so the lanes
// that it registers are not cached; whether the lanes of entries are committed is read over another
// connection.
func (o *Outbox) refreshLanes(ctx context.Context, entries []*entry) {
	generation := o.db.Generation()
	if len(o.lanes.register(generation, entries)) == 0 {
		return
	}
	o.lanes.asking.Lock()
	defer o.lanes.asking.Unlock()
	now := time.Now()
	if now.Before(o.lanes.next) {
		return
	}
	o.lanes.next = now.Add(learnEvery)
	ctx, cancel := context.WithTimeout(ctx, learnLimit)
	defer cancel()
	all, err := engine.Query(ctx, o.db, op.OutboxLanes{})
	if err != nil {
		o.lanes.next = now.Add(learnRetry)
	} else if generation == o.db.Generation() { // otherwise they may be of the one before
		for _, l := range all {
			o.lanes.add(generation, l.ID)
		}
	}
}
