package outbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/bravellian/pawl/engine"
)

// enqueueCall lays entries out as the columns that "outbox/enqueue" takes, or
// "outbox/enqueue_once" if some brought an id of their own.
func enqueueCall(entries []*entry) *engine.Call {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
	n := len(entries)
	ids, mids, topics := make([]int64, n), make([][16]byte, n), make([]string, n)
	payloads, lanes := make([][]byte, n), make([]int64, n)
	var correlations, headers []*string
	var dues []*time.Time
	var queues []string
	once := false
	for i, en := range entries {
		ids[i], mids[i], topics[i], lanes[i] = en.id, en.mid, en.msg.Topic, en.lane
		payloads[i] = en.msg.Payload
		if payloads[i] == nil {
			payloads[i] = []byte{}
		}
		correlations = put(correlations, n, i, optional(en.msg.CorrelationID))
		headers = put(headers, n, i, en.headers)
		dues = put(dues, n, i, en.due)
		if q := en.msg.queue(); !slices.Contains(queues, q) {
			queues = append(queues, q)
		}
		once = once || en.supplied
	}
	args := []any{ids, mids, topics, correlations, headers, payloads, lanes, dues, queues}
	if once {
		return &engine.Call{Op: "outbox/enqueue_once", Args: append(args, suppliedColumns(entries)...)}
	}
	return &engine.Call{Op: "outbox/enqueue", Args: append(args, runColumns(entries)...)}
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

// suppliedColumns are the supplied marks and the positions that ids carry. An
// id that this outbox made belongs at its position and needs no mark.
func suppliedColumns(entries []*entry) []any {
	supplied, positions := make([]bool, len(entries)), make([]int64, len(entries))
	for i, en := range entries {
		position, _, made := en.mid.position()
		supplied[i] = en.supplied && (!made || position != en.id)
		positions[i] = en.position
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
