package codec

import (
	"context"
	"errors"

	"github.com/bravellian/pawl/blob"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/topics"
)

// Codec is pawl.Codec.
type Codec interface {
	Encode(body any) ([]byte, error)
	Decode(payload []byte, body any) error
}

// Target is the message that a payload is or becomes part of.
type Target struct {
	Topic string   // "" where a program calls the codec itself
	Names []string // of a decoder: topics, and patterns, whose payloads it also takes
	ID    [16]byte // zero: not known
	// Tx is the transaction in which the message is enqueued, nil for none of the program's.
	Tx blob.Tx
	// Template: the payload is stored once for any number of messages, and compared with
	// the stored one: that of a job.
	Template bool
	// Default is used in place of a nil codec; nil: JSON.
	Default Codec
}

// Targeted is a codec that needs the target.
type Targeted interface {
	EncodeFor(ctx context.Context, t Target, body any) ([]byte, error)
	DecodeFor(ctx context.Context, t Target, payload []byte, body any) error
}

// or returns c, or for nil the default.
func (t *Target) or(c Codec) Codec {
	switch {
	case c != nil:
		return c
	case t.Default != nil:
		return t.Default
	}
	return JSON{}
}

// Encode encodes body with c, which may be nil. What a codec of the program refuses is an
// invalid body.
func Encode(ctx context.Context, c Codec, t Target, body any) ([]byte, error) {
	c = t.or(c)
	if own, ok := c.(Targeted); ok {
		return own.EncodeFor(ctx, t, body)
	}
	payload, err := c.Encode(body)
	if err != nil {
		return nil, engine.Invalid("body", "topic %q: %v", t.Topic, err)
	}
	return payload, nil
}

// Decode decodes payload into body with c, which may be nil.
func Decode(ctx context.Context, c Codec, t Target, payload []byte, body any) error {
	c = t.or(c)
	if own, ok := c.(Targeted); ok {
		return own.DecodeFor(ctx, t, payload, body)
	}
	return c.Decode(payload, body)
}

// takes reports whether a payload of the topic may be decoded for the target.
func (t *Target) takes(topic string) bool {
	if topic == "" || topic == t.Topic {
		return topic == t.Topic
	}
	_, ok := topics.Match(t.Names, topic)
	return ok
}

// unavailable is an error that is not the payload's fault: it can be decoded later.
type unavailable struct{ error }

func (u unavailable) Unwrap() error { return u.error }

// Unavailable reports whether a payload was not decoded because a key or the store of blobs
// was missing, which says nothing of the payload.
func Unavailable(err error) bool {
	var u unavailable
	return errors.As(err, &u)
}
