package outbox

import (
	"time"

	"github.com/bravellian/pawl/engine"
)

// LegacyCallsTo is temporary.
func (b *Batch) LegacyCallsTo(name string, extra func(i int) *string) []*engine.Call {
	b.elsewhere = true
	b.calls = b.o.lanes.register(b.generation, b.entries)
	for part := range chunks(b.entries) {
		part = inOrder(part)
		var ids, lanes, pos []int64
		var mids [][16]byte
		var topics []string
		var cor, head, more []*string
		var pay [][]byte
		var due []*time.Time
		var sup []bool
		for i, m := range newMessages(part) {
			ids, mids, topics, cor, head, pay = append(ids, m.ID), append(mids, m.MessageID), append(topics, m.Topic), append(cor, m.CorrelationID), append(head, m.Headers), append(pay, m.Payload)
			lanes, due, sup, pos, more = append(lanes, m.Lane), append(due, m.DueAt), append(sup, m.Supplied), append(pos, m.Carried), append(more, extra(part[i].index))
		}
		b.calls = append(b.calls, &engine.Call{Op: name, Args: []any{ids, mids, topics, cor, head, pay, lanes, due, sup, pos, more}, Generation: b.generation})
	}
	return b.calls
}
