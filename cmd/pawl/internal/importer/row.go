package importer

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/input"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// row is a row that was read.
type row struct {
	key     any // identifies it in its table
	message outbox.Message
	err     error // why it cannot become a message
}

// read reads the rows of a query; now is the database's time.
func (m *mover) read(rows *sql.Rows, now time.Time, each func(r *row) error) error {
	defer rows.Close()
	for rows.Next() {
		var key, id, due, retry any
		var topic, correlation, ordering, queue sql.NullString
		var payload sql.Null[[]byte]
		err := rows.Scan(&key, &id, &topic, &payload, &due, &retry, &correlation, &ordering, &queue)
		if err != nil {
			return err
		}
		r := &row{key: key}
		r.message = outbox.Message{Topic: topic.String, Payload: payload.V, CorrelationID: correlation.String, OrderingKey: ordering.String, Queue: queue.String}
		for field, text := range map[int]*string{fieldTopic: &r.message.Topic, fieldQueue: &r.message.Queue} {
			if m.fixed[field] != "" {
				*text = m.fixed[field]
			}
		}
		if r.err = m.complete(&r.message, id, due, retry, now); r.err == nil && !payload.Valid {
			r.err = engine.Invalid("payload", "null")
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// complete sets the id and the due time of a message, and checks it.
func (m *mover) complete(msg *outbox.Message, id, due, retry any, now time.Time) (err error) {
	if id == nil {
		return engine.Invalid("id", "null")
	}
	msg.ID = m.messageID(msg.Topic, id)
	for _, value := range []any{due, retry} {
		at, err := timeOf(value)
		if err != nil {
			return err
		}
		if at.After(msg.Due) {
			msg.Due = at
		}
	}
	if m.timers && msg.Due.IsZero() {
		return engine.Invalid("due time", "null")
	}
	if !m.timers && !msg.Due.After(now) { // due already: consecutive messages share a run
		msg.Due = time.Time{}
	}
	if len(msg.Payload) > m.MaxPayload {
		return engine.TooLong("payload", m.MaxPayload, "bytes")
	}
	check := *msg
	check.Payload = nil // Validate has another limit
	return check.Validate()
}

// messageID returns the id of a message: a UUID stays, of anything else one is made together with topic and table.
func (m *mover) messageID(topic string, id any) outbox.MessageID {
	text := shown(id)
	if _, err := outbox.ParseMessageID(text); err != nil {
		text = m.name + "/" + text
	}
	return input.MessageID(topic, text)
}

// shown is the value of a row's id as text.
func shown(id any) string {
	b, ok := id.([]byte)
	if !ok {
		return fmt.Sprint(id)
	}
	if uuid := (outbox.MessageID{}); len(b) == len(uuid) {
		copy(uuid[:], b)
		return uuid.String()
	}
	return string(b)
}

// timeOf returns the time of a column. SQLite has none: there it is a text, in UTC if it names no zone, or a Unix time in
// seconds, milliseconds or microseconds, which differ by a factor of a thousand.
func timeOf(value any) (at time.Time, err error) {
	switch v := value.(type) {
	case nil:
		return at, nil
	case time.Time:
		return v, nil
	case int64:
		switch {
		case v < 1e11:
			return time.Unix(v, 0), nil
		case v < 1e14:
			return time.UnixMilli(v), nil
		}
		return time.UnixMicro(v), nil
	case []byte:
		return timeOf(string(v))
	case string:
		text := strings.Replace(strings.TrimSpace(v), " ", "T", 1)
		text = strings.ReplaceAll(text, " ", "")
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04", "2006-01-02"} {
			if at, err = time.Parse(layout, text); err == nil {
				return at, nil
			}
		}
		return at, engine.Invalid("due time", "%s is no time", strconv.QuoteToASCII(v[:min(len(v), 40)]))
	}
	return at, engine.Invalid("due time", "a %T is no time", value)
}
