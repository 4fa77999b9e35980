package outbox

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// handover is a message that is written as claimed by an idle loop of this process. A nil one is
// none.
type handover struct {
	o     *Outbox
	entry *entry
	place *worker.Handover[*Message] // nil: it was given back
	write op.OutboxEnqueueClaimed    // of the last attempt
	row   op.OutboxCreated
	began time.Time    // the last attempt
	found *engine.Call // that has written it; nil before the first attempt
}

// offer returns a handover of a lone message that is due now, if a loop of its queue is idle in
// this process and has a handler for it.
//
// At 40 messages a second, PostgreSQL with fsync, it took the median time from the commit to the
// handler from 1.3 ms to 0.02, and the server's processor time for a message from 2.4 ms to 1.4.
func (o *Outbox) offer(entries []*entry) *handover {
	en := entries[0]
	if len(entries) > 1 || en.due != nil || en.supplied || en.kind != engine.Claimable || en.keyed() {
		return nil
	}
	loop, ok := o.running.Load(en.msg.queue())
	if !ok {
		return nil
	}
	if _, ok := o.handlers.find(en.msg.Topic); !ok {
		return nil
	}
	place := loop.(*worker.Loop[*Message]).Offer(en.msg.Topic)
	if place == nil {
		return nil
	}
	return &handover{o: o, entry: en, place: place}
}

// calls returns the calls that write the message. After an attempt that failed its id counts as
// supplied; then it is enqueued as usual.
func (h *handover) calls(generation int64) []*engine.Call {
	if h.entry.supplied {
		h.end(nil)
		return h.o.enqueueCalls([]*entry{h.entry}, generation)
	}
	h.place.Begin()
	h.began = time.Now()
	alone := []*entry{h.entry}
	h.write = op.OutboxEnqueueClaimed{NewMessage: newMessages(alone)[0], Queue: h.entry.msg.queue(), Owner: h.place.Owner, Lease: h.place.Lease}
	h.found = engine.One(h.write, &h.row)
	h.found.Generation = generation
	return append(h.o.lanes.register(generation, alone), h.found)
}

// committed hands the message over. It is false if the message was enqueued as usual.
func (h *handover) committed(ctx context.Context) bool {
	if h == nil || h.place == nil || h.found.N == 0 { // its queue is paused, or it has a limit
		return false
	}
	m, place := h.message(), h.place
	h.place = nil
	if place.Accept(ctx, item(m)) {
		return true
	}
	if _, err := h.o.Release(ctx, m.Owner, m.Position); err != nil {
		h.o.log.WarnContext(ctx, "a message waits for its lease to expire: its worker ended, and it could not be released", "message_id", m.ID.String(), "error", err)
	}
	return true
}

// message returns the message as a claim would.
func (h *handover) message() *Message {
	e := h.write
	e.Payload = bytes.Clone(e.Payload) // the caller may change its own
	m := &Message{Owner: e.Owner}
	_ = m.fill(&op.OutboxMessage{
		ID: e.ID, MessageID: e.MessageID, Topic: e.Topic, CorrelationID: e.CorrelationID, Headers: e.Headers, Payload: e.Payload,
		CreatedAt: h.row.CreatedAt, Queue: e.Queue, Priority: int64(h.entry.msg.Priority),
	}, nil)
	m.limit(h.began, h.row.CreatedAt)
	return m
}

// end gives the place back, unless the message was handed over. err is that of the write.
func (h *handover) end(err error) {
	switch {
	case h == nil || h.place == nil:
		return
	case errors.Is(err, engine.ErrCommitUnknown):
		h.place.Unknown(h.entry.id)
	default:
		h.place.Withdraw()
	}
	h.place = nil
}
