package outbox

import (
	"context"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/worker"
)

// Any program can write into a table. A row that this one cannot read fails alone, with the reason
// (D-9).

// fill completes a scanned message, whose scan ended with err, and returns why it cannot be read;
// nil if it can. The readable fields are set in both cases. Headers of another form are no reason:
// see decodeHeaders.
func (m *Message) fill(row *op.OutboxMessage, err error) error {
	m.Position, m.ID, m.Topic, m.Payload, m.RetryCount = Position(row.ID), row.MessageID, row.Topic, row.Payload, row.RetryCount
	m.Queue, m.Priority, m.CreatedAt = row.Queue, int(row.Priority), row.CreatedAt.UTC()
	m.CorrelationID, m.Headers = worker.Value(row.CorrelationID), decodeHeaders(row.Headers)
	if row.DueAt != nil {
		m.Due = row.DueAt.UTC()
	}
	m.Headers, m.OrderingKey = ordering.Take(m.Headers)
	if late := m.takeExpiry(); err == nil {
		err = late
	}
	if err == nil && utf8.ValidString(m.Topic) && utf8.ValidString(m.CorrelationID) && engine.ReadableTime(m.Due) && engine.ReadableTime(m.CreatedAt) {
		return nil
	}
	return engine.Unreadable(err, engine.CleanText("topic", &m.Topic), engine.CleanText("correlation id", &m.CorrelationID),
		engine.CleanTime("due time", &m.Due), engine.CleanTime("time of creation", &m.CreatedAt))
}

func (d *delivery) note(m *Message, fault error) {
	if d.faults == nil {
		d.faults = map[*Message]error{}
	}
	d.faults[m] = fault
}

// endUnusable ends the messages of a claim that cannot be read or have expired, and returns
// the others.
func (o *Outbox) endUnusable(ctx context.Context, owner OwnerToken, got *delivery) ([]*Message, error) {
	var ended []op.Failure
	var expired []op.Held
	var calls []*engine.Call // each error is counted by its own
	var rest []*Message
	for _, m := range got.msgs {
		fault := got.faults[m]
		switch {
		case fault == nil && m.expired():
			ended = append(ended, op.Failure{Held: held(owner, int64(m.Position)), Expired: true})
			expired = append(expired, held(owner, int64(m.Position)))
			continue
		case fault == nil:
			rest = append(rest, m)
			continue
		}
		o.log.ErrorContext(ctx, "message fails unread", "message_id", m.ID.String(), "error", engine.Line(fault.Error()))
		f := op.Failure{Held: held(owner, int64(m.Position)), Reported: reported(worker.ErrorText(fault.Error()))}
		ended = append(ended, f)
		calls = append(calls, engine.Ask(op.ActivityCount{Runs: []op.Held{f.Held}, Outcome: "failed", Fingerprint: f.Fingerprint}))
	}
	if len(expired) > 0 {
		calls = append(calls, engine.Ask(op.ActivityCount{Runs: expired, Outcome: "expired"}))
	}
	err := o.db.Do(ctx, append(calls, engine.Ask(o.failOp(ended, true)))...)
	if err != nil && len(rest) > 0 { // the others come back when their leases expire
		o.log.WarnContext(ctx, "could not end messages that cannot be read or have expired", "count", len(ended), "error", err)
		err = nil
	}
	return rest, err
}
