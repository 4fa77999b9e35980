package outbox

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// Any program can write into a table. A row that this one cannot read fails alone,
// with the reason (D-9).

// fill completes a scanned message, whose scan ended with err, and returns why it
// cannot be read; nil if it can. What can be read of it is there in either case. Headers
// of another form are no reason: see decodeHeaders.
func (m *Message) fill(correlation, headers *string, due *time.Time, priority int64, err error) error {
	if correlation != nil {
		m.CorrelationID = *correlation
	}
	if due != nil {
		m.Due = due.UTC()
	}
	m.Headers = decodeHeaders(headers)
	m.CreatedAt = m.CreatedAt.UTC()
	m.Priority = int(priority)
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

// failUnreadable fails the messages of a claim that cannot be read, and returns the
// others.
func (o *Outbox) failUnreadable(ctx context.Context, owner OwnerToken, got *delivery) ([]*Message, error) {
	var c columns
	var rest []*Message
	for _, m := range got.msgs {
		fault := got.faults[m]
		if fault == nil {
			rest = append(rest, m)
			continue
		}
		o.log.ErrorContext(ctx, "message fails unread", "message_id", m.ID.String(), "error", engine.Line(fault.Error()))
		c.add(owner, work.Run{Lo: int64(m.WorkItemID), N: 1})
		c.errs = append(c.errs, work.Optional(work.ErrorText(fault.Error())))
	}
	err := o.db.Do(ctx, c.call("outbox/fail", c.errs, true))
	if err != nil && len(rest) > 0 { // their leases bring the others back
		o.log.WarnContext(ctx, "could not fail messages that cannot be read", "count", len(c.lo), "error", err)
		err = nil
	}
	return rest, err
}
