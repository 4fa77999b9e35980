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
	"github.com/bravellian/pawl/internal/expiry"
	"github.com/bravellian/pawl/internal/ordering"
)

const (
	// chunk is how many messages one statement writes, and chunkBytes their size limit:
	// PostgreSQL refuses a gigabyte in one statement.
	chunk      = 1000
	chunkBytes = 16 << 20
)

// enqueueCall has the messages of one call.
type enqueueCall struct {
	entries    []*entry
	generation int64 // of the database, when they got their positions
}

// entry is a message ready to be written.
type entry struct {
	msg      *Message
	index    int // among the messages of its call
	lane     int64
	kind     engine.LaneKind
	due      *time.Time
	headers  *string
	id       int64 // position
	mid      MessageID
	supplied bool      // mid came from the caller
	position int64     // that a supplied mid carries, or 0
	earlier  MessageID // of the message that took this one's place; zero: none did
}

// ids returns the messages' ids, those of the earlier messages for duplicates. It may be called
// once the messages are written.
func (e *enqueueCall) ids() []MessageID {
	ids := e.ownIDs()
	for i, en := range e.entries {
		if en.duplicate() {
			ids[i] = en.earlier
		}
	}
	return ids
}

// ownIDs returns the ids with which the messages are to be stored.
func (e *enqueueCall) ownIDs() []MessageID {
	ids := make([]MessageID, len(e.entries))
	for i, en := range e.entries {
		ids[i] = en.mid
	}
	return ids
}

// prepare validates every message before anything is written. The payloads of the last ones, a
// component's own, may be of any size.
func (o *Outbox) prepare(msgs []Message, own int) (*enqueueCall, error) {
	e := &enqueueCall{entries: make([]*entry, len(msgs)), generation: o.db.Generation()}
	entries := make([]entry, len(msgs))
	var lane int64
	var kind engine.LaneKind
	for i := range msgs {
		m := &msgs[i]
		most := o.opts.MaxPayload
		if i >= len(msgs)-own {
			most = math.MaxInt
		}
		if err := cmp.Or(m.validate(most), o.checkUniqueID(m)); err != nil {
			return nil, err
		}
		headers, err := encodeHeaders(ordering.Put(expiry.Put(m.Headers, m.Expires), m.OrderingKey))
		if err != nil {
			return nil, engine.Invalid("headers", "%v", err)
		}
		if i == 0 || m.Queue != msgs[i-1].Queue || m.Priority != msgs[i-1].Priority || (m.orderingKey() != "") != (kind == engine.Ordered) {
			lane, kind = laneOf(m)
		}
		entries[i] = entry{msg: m, index: i, lane: lane, kind: kind, due: engine.Due(&m.Due), headers: headers, mid: m.ID, supplied: !m.ID.IsZero()}
		e.entries[i] = &entries[i]
	}
	return e, nil
}

// identify sets every message's position and, unless it has one, its id. Messages of one lane and
// due time get consecutive positions, so that they form one run.
func (o *Outbox) identify(ctx context.Context, tx Tx, e *enqueueCall) error {
	order := slices.Clone(e.entries)
	if slices.ContainsFunc(order, func(en *entry) bool { return en.lane != order[0].lane || en.due != order[0].due }) {
		slices.SortStableFunc(order, func(a, b *entry) int {
			return cmp.Or(cmp.Compare(a.lane, b.lane), compareDue(a.due, b.due))
		})
	}
	e.generation = o.db.Generation()
	now := time.Now()
	for part := range chunks(order) {
		fresh := slices.DeleteFunc(slices.Clone(part), o.isOwnID)
		if len(fresh) == 0 {
			continue
		}
		if err := o.reserve(ctx, tx, e.generation, fresh); err != nil {
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

// reserve sets the positions of entries of one lane.
func (o *Outbox) reserve(ctx context.Context, tx Tx, generation int64, entries []*entry) error {
	if entries[0].kind == engine.Ordered {
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

// isOwnID reports whether an entry has an id that this outbox made, after an enqueue whose outcome
// was unknown (D-4): it is written at its own position, where the primary key waits for the first
// attempt if that is still in flight. Other ids that carry a position are searched there.
func (o *Outbox) isOwnID(en *entry) bool {
	if !en.supplied {
		return false
	}
	position, _, ok := en.mid.position()
	if !ok {
		return false
	}
	en.position = position
	if !o.made(en.mid) {
		return false
	}
	en.id = position
	return true
}

// made reports whether this outbox made an id, in the database's generation.
func (o *Outbox) made(id MessageID) bool {
	position, tag, ok := id.position()
	generation := o.db.Generation()
	return ok && tag == o.tag && (o.minted.contains(generation, position) || o.mintedInOrder.contains(generation, position))
}

func compareDue(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return a.Compare(*b)
}

// chunks splits entries into what one statement writes, and what gets its positions in one
// way.
func chunks(entries []*entry) iter.Seq[[]*entry] {
	return func(yield func([]*entry) bool) {
		for len(entries) > 0 {
			n, size := 0, 0
			for n < len(entries) && n < chunk && entries[n].kind == entries[0].kind && (n == 0 || size+len(entries[n].msg.Payload) <= chunkBytes) {
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
