package outbox

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/expiry"
	"github.com/bravellian/pawl/internal/ordering"
)

const (
	// chunk is how many messages one statement writes, and chunkBytes their size limit:
	// PostgreSQL refuses a gigabyte in one statement.
	chunk      = 1000
	chunkBytes = 16 << 20
)

// entry is a message ready to be written.
type entry struct {
	msg      *Message
	index    int // among the messages of its call
	lane     int64
	kind     engine.LaneKind
	inOrder  bool // it has an ordering key
	due      *time.Time
	at       *time.Time // when it becomes ready; nil: now
	headers  *string
	id       int64 // position
	mid      MessageID
	supplied bool      // mid came from the caller
	position int64     // that a supplied mid carries, or 0
	earlier  MessageID // of the message that took this one's place; zero: none did
}

// prepare validates every message before anything is written. The payloads of the last ones, a
// component's own, may be of any size.
func (o *Outbox) prepare(msgs []Message, own int) (*batch, error) {
	b := &batch{o: o, entries: make([]*entry, len(msgs)), generation: o.db.Generation()}
	entries := make([]entry, len(msgs))
	for i := range msgs {
		m, en := &msgs[i], &entries[i]
		most := o.opts.MaxPayload
		if i >= len(msgs)-own {
			most = math.MaxInt
		}
		if err := m.validate(o, most); err != nil {
			return nil, err
		}
		*en = entry{msg: m, index: i, due: engine.Due(&m.Due), mid: m.ID, supplied: !m.ID.IsZero()}
		if en.supplied {
			en.position, _, _ = m.ID.position()
		}
		if err := o.place(en); err != nil {
			return nil, err
		}
		if i > 0 && m.Queue == msgs[i-1].Queue && m.Priority == msgs[i-1].Priority && en.kind == entries[i-1].kind {
			en.lane = entries[i-1].lane
		} else {
			en.lane = engine.LaneID(m.queue(), m.Priority, en.kind)
		}
		b.entries[i] = en
	}
	return b, nil
}

// place sets the headers of an entry, the kind of its lane, and when it becomes ready.
func (o *Outbox) place(en *entry) (err error) {
	m := en.msg
	headers := ordering.Put(expiry.Put(m.Headers, m.Expires), m.OrderingKey)
	var group *time.Time // nil: it takes no turns
	if key := m.orderingKey(); key != "" {
		at := ordering.At(key)
		en.kind, en.inOrder, group = engine.Ordered, true, &at
	} else if len(o.opts.Fair) > 0 || m.Headers[ordering.FairHeader] != "" {
		if group, headers, err = o.turnOf(m, headers); err != nil {
			return err
		}
		if group != nil {
			en.kind = engine.Ordered
		}
	}
	if en.at = en.due; en.kind == engine.Ordered && en.due == nil {
		en.at = group
	}
	if len(headers) == 0 {
		return nil
	}
	if en.headers, err = encodeHeaders(headers); err != nil {
		return engine.Invalid("headers", "%v", err)
	}
	return nil
}

// identify sets every message's position and, unless it has one, its id. Messages of one lane that
// become ready at one time get consecutive positions, so that they form one run. One with an id that this outbox
// made, after an enqueue whose outcome was unknown (D-4), is written at its own position, where the
// primary key waits for the first attempt if that is still in flight. Other ids that carry a position
// are searched there.
func (o *Outbox) identify(ctx context.Context, tx Tx, b *batch) error {
	order := slices.Clone(b.entries)
	if slices.ContainsFunc(order, func(en *entry) bool { return en.lane != order[0].lane || en.at != order[0].at }) {
		slices.SortStableFunc(order, compareRuns)
	}
	b.generation = o.db.Generation()
	now := time.Now()
	for part := range chunks(order) {
		fresh := slices.DeleteFunc(slices.Clone(part), func(en *entry) bool {
			en.id = en.position
			return en.supplied && o.made(en.mid)
		})
		if len(fresh) == 0 {
			continue
		}
		if err := o.reserve(ctx, tx, b.generation, fresh); err != nil {
			return err
		}
		for _, en := range fresh {
			if !en.supplied {
				en.mid = makeMessageID(now, o.tag, en.id)
			}
		}
	}
	return nil
}

// compareRuns says which of two entries gets the first position. Those with ordering keys stay as they came, whatever
// their keys.
func compareRuns(a, b *entry) int {
	switch {
	case a.lane != b.lane:
		return cmp.Compare(a.lane, b.lane)
	case a.inOrder && b.inOrder:
		return compareDue(a.due, b.due)
	case a.inOrder:
		return -1
	case b.inOrder:
		return 1
	}
	return compareDue(a.at, b.at)
}

// reserve sets the positions of entries of one lane.
func (o *Outbox) reserve(ctx context.Context, tx Tx, generation int64, entries []*entry) error {
	if entries[0].inOrder {
		return o.reserveInOrder(ctx, tx, generation, entries)
	}
	lo, err := o.db.ReserveIDs(ctx, tx, len(entries))
	if err != nil {
		return err
	}
	o.minted.extend(generation, lo, lo+int64(len(entries))-1)
	for i, en := range entries {
		en.id = lo + int64(i)
	}
	return nil
}

// reserveInOrder sets the positions of entries with ordering keys. They are drawn from the
// database each time, not from this process's block: they tell the order of transactions of all
// processes.
func (o *Outbox) reserveInOrder(ctx context.Context, tx Tx, generation int64, entries []*entry) error {
	ids, err := o.db.ReserveInOrder(ctx, tx, len(entries))
	if err != nil {
		return err
	}
	o.mintedInOrder.extend(generation, ids[0], ids[len(ids)-1])
	for i, en := range entries {
		en.id = ids[i]
	}
	return nil
}

// made reports whether this outbox made an id, in the database's generation.
func (o *Outbox) made(id MessageID) bool {
	position, tag, ok := id.position()
	generation := o.db.Generation()
	return ok && tag == o.tag && (o.minted.contains(generation, position) || o.mintedInOrder.contains(generation, position))
}

// chunks splits entries into what one statement writes, and what gets its positions in one
// way.
func chunks(entries []*entry) iter.Seq[[]*entry] {
	return func(yield func([]*entry) bool) {
		for len(entries) > 0 {
			n, size := 0, 0
			for n < len(entries) && n < chunk && entries[n].inOrder == entries[0].inOrder && (n == 0 || size+len(entries[n].msg.Payload) <= chunkBytes) {
				size += len(entries[n].msg.Payload)
				n++
			}
			if !yield(entries[:n]) {
				return
			}
			entries = entries[n:]
		}
	}
}

// span is the range of positions that this outbox allocated in one generation of the database: in
// another they may belong to other messages.
type span struct {
	mu         sync.Mutex
	generation int64
	lo, hi     int64
}

func (s *span) extend(generation, lo, hi int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation != generation {
		s.generation, s.lo, s.hi = generation, 0, 0
	}
	if s.lo == 0 || lo < s.lo {
		s.lo = lo
	}
	s.hi = max(s.hi, hi)
}

func (s *span) contains(generation, id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation == generation && s.lo != 0 && id >= s.lo && id <= s.hi
}

// lanes caches which lanes (a queue at a priority) the database has, so that an enqueue need not
// register them each time. The cache is valid for one generation of the database: a failover or a
// restore may remove a lane.
type lanes struct {
	mu         sync.RWMutex
	generation int64
	known      map[int64]bool // lane ids that are committed

	asking sync.Mutex
	next   time.Time // when to read them again
}

// defaultLane is the lane of DefaultQueue at priority 0, which every schema has.
const defaultLane = 4828129222919567135

// add adds lanes that were committed in a generation.
func (l *lanes) add(generation int64, ids ...int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if generation == 0 {
		return
	}
	if generation != l.generation || l.known == nil {
		l.generation, l.known = generation, map[int64]bool{}
	}
	for _, id := range ids {
		l.known[id] = true
	}
}

// register returns the calls that register the lanes of entries which the database is not known to
// have.
func (l *lanes) register(generation int64, entries []*entry) []*engine.Call {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var calls []*engine.Call
	seen := map[int64]bool{defaultLane: true}
	for i, en := range entries {
		if i > 0 && en.lane == entries[i-1].lane || seen[en.lane] || l.generation == generation && l.known[en.lane] {
			continue
		}
		seen[en.lane] = true
		lane := op.OutboxLane{ID: en.lane, Queue: en.msg.queue(), Priority: en.msg.Priority, Kind: int(en.kind)}
		calls = append(calls, &engine.Call{Operation: lane, Generation: generation})
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
