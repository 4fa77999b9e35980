package pawltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Matcher is a condition on a message or a timer. One without any fits.
type Matcher struct {
	field string // what it looks at, in the list of what was there instead
	want  string
	fits  func(*item) bool
	err   error // a mistake in the matcher itself
	tx    any   // where to look; nil: what is committed
}

// In has an assertion read what an open transaction has written: a *sql.Tx, a pgx.Tx, what
// embeds one, or the transaction that a handler of the inbox is given.
func In(tx any) Matcher {
	if tx == nil {
		return Matcher{err: errors.New("In has no transaction")}
	}
	return Matcher{tx: tx, fits: func(*item) bool { return true }}
}

// Topic fits one topic.
func Topic(name string) Matcher {
	return Matcher{field: "topic", want: fmt.Sprintf("%q", name), fits: func(i *item) bool { return i.msg.Topic == name }}
}

// Queue fits one queue, outbox.DefaultQueue included.
func Queue(name string) Matcher {
	return Matcher{field: "queue", want: fmt.Sprintf("%q", name), fits: func(i *item) bool { return i.msg.Queue == name }}
}

// CorrelationID fits one correlation id.
func CorrelationID(id string) Matcher {
	return Matcher{field: "correlation id", want: fmt.Sprintf("%q", id), fits: func(i *item) bool { return i.msg.CorrelationID == id }}
}

// Header fits a header of one value.
func Header(name, value string) Matcher {
	return Matcher{field: "header", want: fmt.Sprintf("%s: %q", name, value), fits: func(i *item) bool {
		got, ok := i.msg.Headers[name]
		return ok && got == value
	}}
}

// Key fits the timer of a key; no message has one.
func Key(key string) Matcher {
	return Matcher{field: "key", want: fmt.Sprintf("%q", key), fits: func(i *item) bool { return i.key == key }}
}

// Due fits due times that differ from at by no more than within: 0 for one that the test
// names, a minute for one that code computes from time.Now. Databases keep microseconds.
func Due(at time.Time, within time.Duration) Matcher {
	at = at.Truncate(time.Microsecond)
	want := stamp(at)
	if within > 0 {
		want += " ± " + within.String()
	}
	return Matcher{field: "due time", want: want, fits: func(i *item) bool { return i.msg.Due.Sub(at).Abs() <= within }}
}

// Body fits a payload, byte for byte.
func Body(want string) Matcher {
	return Matcher{field: "payload", want: short([]byte(want)), fits: func(i *item) bool { return string(i.msg.Payload) == want }}
}

// Payload fits payloads that a function accepts.
func Payload(fits func(payload []byte) bool) Matcher {
	return Matcher{field: "payload", want: "that the function accepts", fits: func(i *item) bool { return fits(i.msg.Payload) }}
}

// JSON fits payloads that are the same JSON value as want is when marshalled: order
// of fields and white space do not matter.
func JSON(want any) Matcher {
	text, err := json.Marshal(want)
	if err != nil {
		return Matcher{err: fmt.Errorf("JSON: %w", err)}
	}
	value, err := decode(text)
	return Matcher{field: "payload", want: "JSON " + short(text), err: err, fits: func(i *item) bool {
		got, err := decode(i.msg.Payload)
		return err == nil && reflect.DeepEqual(got, value)
	}}
}

// JSONBody fits payloads that decode as a T which a function accepts.
func JSONBody[T any](fits func(body T) bool) Matcher {
	return Matcher{field: "payload", want: fmt.Sprintf("JSON of %T that the function accepts", *new(T)), fits: func(i *item) bool {
		var body T
		return json.Unmarshal(i.msg.Payload, &body) == nil && fits(body)
	}}
}

// decode keeps numbers as they are written: as float64 large ids would be the same.
func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return value, nil
}

// differs returns what about an item does not fit.
func differs(i *item, matchers []Matcher) []string {
	var fields []string
	for _, m := range matchers {
		if !m.fits(i) {
			fields = append(fields, m.field)
		}
	}
	return fields
}

// describe says what was wanted.
func describe(matchers []Matcher) string {
	var all []string
	for _, m := range matchers {
		if m.tx == nil {
			all = append(all, m.field+" "+m.want)
		}
	}
	if all == nil {
		return ""
	}
	return " with " + strings.Join(all, ", ")
}
