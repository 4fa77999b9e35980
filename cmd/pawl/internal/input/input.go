// Package input reads the messages that people feed to "pawl enqueue": all of
// them, so that bad input anywhere means no message at all, or batch by batch.
package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/outbox"
)

// Format says what the input looks like.
type Format string

// The formats of input.
const (
	Auto     Format = "auto"     // Raw with a topic, else Envelope
	Raw      Format = "raw"      // every line is a payload
	Envelope Format = "envelope" // every line is a JSON object: a message
	Whole    Format = "whole"    // all of it is one payload
)

// DefaultMaxTotal bounds the input: it becomes one transaction.
const DefaultMaxTotal = 256 << 20

// Options say how to read.
type Options struct {
	Format     Format
	Message    outbox.Message // what lines do not say for themselves
	Key        string         // the key of the only message
	MaxPayload int            // default 1 MiB
	MaxTotal   int64          // bytes of input that Read takes, default DefaultMaxTotal
	Now        time.Time      // what durations count from
}

// LineError is a mistake in one line of the input, counted from 1.
type LineError struct {
	Line int
	Err  error
}

// Error names the line, and never quotes it: it may hold a payload (D-5).
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

func (o *Options) defaults() {
	if o.MaxPayload <= 0 {
		o.MaxPayload = limits.Payload
	}
	if o.MaxTotal <= 0 {
		o.MaxTotal = DefaultMaxTotal
	}
	if o.Format == Auto || o.Format == "" {
		o.Format = Envelope
		if o.Message.Topic != "" {
			o.Format = Raw
		}
	}
}

// Read returns the messages of r, or the first mistake.
func Read(r io.Reader, o Options) ([]outbox.Message, error) {
	o.defaults()
	msgs, err := o.read(r)
	if err != nil || o.Key == "" {
		return msgs, err
	}
	if len(msgs) > 1 {
		return nil, fmt.Errorf("--key names one message, the input has %d: give each a key with --format=envelope", len(msgs))
	}
	for i := range msgs {
		if msgs[i].ID.IsZero() {
			msgs[i].ID = MessageID(msgs[i].Topic, o.Key)
		}
	}
	return msgs, nil
}

// The bounds of a batch. Its last message may pass batchBytes.
const (
	batchMessages = 1000
	batchBytes    = 4 << 20
)

// Batches reads the messages of r and calls store for one batch after another, of
// 1000 messages or 4 MiB at most, with the number of its last line. Each batch is
// checked before it is stored. It returns the first mistake, or store's error.
func Batches(r io.Reader, o Options, store func(msgs []outbox.Message, line int) error) error {
	o.defaults()
	o.MaxTotal = math.MaxInt64
	var batch []outbox.Message
	size, last := 0, 0
	err := o.each(r, func(m outbox.Message, line int) error {
		batch, last = append(batch, m), line
		if size += len(m.Payload); len(batch) < batchMessages && size < batchBytes {
			return nil
		}
		full := batch
		batch, size = make([]outbox.Message, 0, batchMessages), 0
		return store(full, line)
	})
	if err != nil || len(batch) == 0 {
		return err
	}
	return store(batch, last)
}

func (o *Options) read(r io.Reader) (msgs []outbox.Message, err error) {
	if o.Format == Whole {
		return o.readWhole(r)
	}
	err = o.each(r, func(m outbox.Message, _ int) error {
		msgs = append(msgs, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return msgs, nil
}

// each calls take for every message and the number of its line.
func (o *Options) each(r io.Reader, take func(m outbox.Message, line int) error) error {
	parse, limit := o.raw, o.MaxPayload
	if o.Format == Envelope {
		// A character may be escaped as six bytes; the rest is for other fields.
		parse, limit = o.envelope, 6*o.MaxPayload+256<<10
	}
	lines := lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit, left: o.MaxTotal}
	for n := 1; ; n++ {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && o.Format == Envelope && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if errors.Is(err, errTooLong) {
			err = o.lineTooLong(lines.buf)
		}
		if err != nil {
			return &LineError{n, err}
		}
		m, err := parse(line)
		if err == nil {
			err = o.check(&m)
		}
		if err != nil {
			return &LineError{n, err}
		}
		if err := take(m, n); err != nil {
			return err
		}
	}
}

func (o *Options) raw(line []byte) (outbox.Message, error) {
	m := o.Message
	m.Payload = bytes.Clone(line)
	return m, nil
}

func (o *Options) readWhole(r io.Reader) ([]outbox.Message, error) {
	m := o.Message
	var err error
	if m.Payload, err = io.ReadAll(io.LimitReader(r, int64(o.MaxPayload)+1)); err != nil {
		return nil, err
	}
	if err := o.check(&m); err != nil {
		return nil, err
	}
	return []outbox.Message{m}, nil
}

func (o *Options) check(m *outbox.Message) error {
	if len(m.Payload) > o.MaxPayload {
		return payloadTooLong(o.MaxPayload)
	}
	// Validate knows only the default limit, which was checked above.
	fields := *m
	fields.Payload = nil
	return fields.Validate()
}

func payloadTooLong(limit int) error {
	return engine.TooLong("payload", limit, "bytes")
}

// MessageID makes a message's id of a key: a UUID is one, any other text
// becomes one together with the topic, always the same.
func MessageID(topic, key string) outbox.MessageID {
	if id, err := outbox.ParseMessageID(key); err == nil && !id.IsZero() {
		return id
	}
	return outbox.MessageID(uuid.NewSHA1(uuid.NameSpaceOID, []byte("pawl/"+topic+"\x00"+key)))
}

// ParseWhen reads a time: RFC 3339, now, or how long from now (sign 1) or ago (-1), in days, too: 2d12h.
func ParseWhen(s string, now time.Time, sign time.Duration) (time.Time, error) {
	if s == "now" {
		return now, nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	d, err := parseDuration(s)
	if err != nil || d < 0 {
		return time.Time{}, fmt.Errorf("%s: want a time like 2030-01-31T12:00:00Z, a duration like 10m or 2d, or now", strconv.QuoteToASCII(cut(s)))
	}
	return now.Add(sign * d), nil
}

// parseDuration is time.ParseDuration with days in front.
func parseDuration(s string) (time.Duration, error) {
	before, rest, ok := strings.Cut(s, "d")
	days, err := strconv.ParseUint(before, 10, 16)
	if !ok || err != nil {
		return time.ParseDuration(s)
	}
	d, err := time.ParseDuration("0" + rest)
	return time.Duration(days)*24*time.Hour + d, err
}

func cut(s string) string { return s[:min(len(s), 40)] }
