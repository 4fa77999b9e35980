package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// enqueueCall lays entries out as the columns that "outbox/enqueue" takes, or
// "outbox/enqueue_once" if some brought an id of their own.
func enqueueCall(entries []*entry) *engine.Call {
	entries = inOrder(entries)
	c := columnsOf(entries)
	if c.once {
		return &engine.Call{Op: "outbox/enqueue_once", Args: append(append(c.args(), c.queues), suppliedColumns(entries)...)}
	}
	return &engine.Call{Op: "outbox/enqueue", Args: append(append(c.args(), c.queues), runColumns(entries)...)}
}

// inOrder is entries by position.
func inOrder(entries []*entry) []*entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
}

// messageColumns are messages, column by column; one that no message has is nil.
type messageColumns struct {
	ids, lanes            []int64
	mids                  [][16]byte
	topics, queues        []string
	payloads              [][]byte
	correlations, headers []*string
	dues                  []*time.Time
	once                  bool // some brought an id of their own
}

func columnsOf(entries []*entry) *messageColumns {
	n := len(entries)
	c := &messageColumns{ids: make([]int64, n), mids: make([][16]byte, n), topics: make([]string, n), payloads: make([][]byte, n), lanes: make([]int64, n)}
	for i, en := range entries {
		c.ids[i], c.mids[i], c.topics[i], c.lanes[i] = en.id, en.mid, en.msg.Topic, en.lane
		c.payloads[i] = en.msg.Payload
		if c.payloads[i] == nil {
			c.payloads[i] = []byte{}
		}
		c.correlations = put(c.correlations, n, i, work.Optional(en.msg.CorrelationID))
		c.headers = put(c.headers, n, i, en.headers)
		c.dues = put(c.dues, n, i, en.due)
		if q := en.msg.queue(); !slices.Contains(c.queues, q) {
			c.queues = append(c.queues, q)
		}
		c.once = c.once || en.supplied
	}
	return c
}

func (c *messageColumns) args() []any {
	return append(make([]any, 0, 13), c.ids, c.mids, c.topics, c.correlations, c.headers, c.payloads, c.lanes, c.dues)
}

// put sets column[i], making the column when its first value comes: one that no
// message has travels as null.
func put[T any](column []*T, n, i int, v *T) []*T {
	if v == nil {
		return column
	}
	if column == nil {
		column = make([]*T, n)
	}
	column[i] = v
	return column
}

// marked reports whether a message is found by a mark. An id that this outbox made
// belongs at its position and needs none.
func (en *entry) marked() bool {
	position, _, made := en.mid.position()
	return en.supplied && (!made || position != en.id)
}

// suppliedColumns are the supplied marks and the positions that ids carry.
func suppliedColumns(entries []*entry) []any {
	supplied, positions := make([]bool, len(entries)), make([]int64, len(entries))
	for i, en := range entries {
		supplied[i], positions[i] = en.marked(), en.position
	}
	return []any{supplied, positions}
}

// runColumns are the runs that the entries form.
func runColumns(entries []*entry) []any {
	var lanes, lo, lengths []int64
	var times []*time.Time
	for i, en := range entries {
		if k := len(lo) - 1; i > 0 && en.id == lo[k]+lengths[k] && en.lane == lanes[k] && compareDue(en.due, times[k]) == 0 {
			lengths[k]++
			continue
		}
		lanes, times, lo, lengths = append(lanes, en.lane), append(times, en.due), append(lo, en.id), append(lengths, 1)
	}
	return []any{lanes, times, lo, lengths}
}
