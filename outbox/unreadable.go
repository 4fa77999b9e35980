package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// Any program can write into a table. A row that this one cannot read fails alone,
// with the reason (D-9).

// fill completes a scanned message, whose scan ended with err, and returns why it
// cannot be read; nil if it can. What can be read of it is there in either case.
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
	if err == nil && utf8.ValidString(m.Topic) && utf8.ValidString(m.CorrelationID) && expressible(m.Due) && expressible(m.CreatedAt) {
		return nil
	}
	return m.unreadable(err)
}

// unreadable says what is wrong with a message, and takes it out of it.
func (m *Message) unreadable(err error) error {
	return unreadable(errors.Join(err,
		cleanText("topic", &m.Topic), cleanText("correlation id", &m.CorrelationID), cleanTime("due time", &m.Due), cleanTime("time of creation", &m.CreatedAt)))
}

func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return &unreadableError{err}
}

func cleanText(field string, text *string) error {
	if utf8.ValidString(*text) {
		return nil
	}
	*text = strings.ToValidUTF8(*text, "\uFFFD")
	return fmt.Errorf("%s: not UTF-8", field)
}

func cleanTime(field string, t *time.Time) error {
	if t == nil || expressible(*t) {
		return nil
	}
	*t = time.Time{}
	return fmt.Errorf("%s: not within the years 1 to 9999", field)
}

type unreadableError struct{ err error }

func (e *unreadableError) Error() string {
	return "cannot be read: " + strings.ReplaceAll(e.err.Error(), "\n", "; ")
}

func (e *unreadableError) Unwrap() error { return e.err }

// The first second that JSON and other formats can express, and the first that they
// cannot: 0001-01-01 and 10000-01-01.
const firstSecond, lastSecond = -62_135_596_800, 253_402_300_800

func expressible(t time.Time) bool { return t.Unix() >= firstSecond && t.Unix() < lastSecond }

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
		o.log.ErrorContext(ctx, "message fails unread", "id", int64(m.WorkItemID), "message_id", m.ID.String(), "error", engine.Line(fault.Error()))
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
