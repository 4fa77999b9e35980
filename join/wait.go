package join

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Wait describes what to send when a join ends. It is a message of topic join.wait, handled by
// the workers of its queue.
type Wait struct {
	// OnComplete is sent when the join completes; without a topic nothing is.
	OnComplete outbox.Message
	// OnFail is sent when the join fails; without a topic nothing is.
	OnFail outbox.Message
	// AllowFailures makes a join complete even if steps failed. A deadline that passes fails the
	// join all the same.
	AllowFailures bool
	// Queue is the queue of the wait, default Options.Queue.
	Queue string
	// ID is the wait's message id; if zero, one is made. Enqueuing a wait with a known id adds
	// nothing.
	ID outbox.MessageID
}

// isZero reports whether the wait would do nothing at all.
func (w *Wait) isZero() bool {
	return w.OnComplete.Topic == "" && w.OnFail.Topic == "" && !w.AllowFailures
}

// filled returns the wait with the payloads of typed messages, which are made when they are stored: here, in the wait.
func (w Wait) filled(ctx context.Context, tx outbox.Tx) (_ Wait, err error) {
	if w.OnComplete, err = outbox.Filled(access.Key{}, ctx, tx, w.OnComplete); err == nil {
		w.OnFail, err = outbox.Filled(access.Key{}, ctx, tx, w.OnFail)
	}
	return w, err
}

// Wait sends a message when the join ends: exactly one, also if the join has ended already, and
// in addition to other waits. It returns the wait's message id; the id of the message that it
// sends derives from that. Error: ErrNotFound.
func (j *Joins) Wait(ctx context.Context, id ID, w Wait) (outbox.MessageID, error) {
	return j.WaitTx(ctx, engine.OwnTx{}, id, w)
}

// WaitTx is Wait in the caller's transaction, which may have started the join, at any isolation
// level.
func (j *Joins) WaitTx(ctx context.Context, tx any, id ID, w Wait) (outbox.MessageID, error) {
	own, err := engine.TxFor(ctx, j.db, tx, "WaitTx")
	if err != nil {
		return outbox.MessageID{}, err
	}
	known, err := engine.Exec(ctx, j.db, own, op.JoinKnown{JoinID: id})
	if err != nil {
		return outbox.MessageID{}, err
	}
	if known == 0 {
		return outbox.MessageID{}, notFound(id)
	}
	if w, err = w.filled(ctx, own); err != nil {
		return outbox.MessageID{}, err
	}
	m, err := j.waitMessage(id, w)
	if err != nil {
		return outbox.MessageID{}, err
	}
	var mid outbox.MessageID
	err = engine.Repeat(ctx, own, func() error {
		wr := &writes{j: j}
		if err := j.addWait(ctx, own, wr, id, m); err != nil {
			return err
		}
		mid = wr.batches[0].IDs()[0]
		return wr.write(ctx, own)
	})
	if errors.Is(err, engine.ErrReference) {
		return outbox.MessageID{}, notFound(id) // it was deleted since it was read
	}
	if err != nil && !errors.Is(err, engine.ErrCommitUnknown) {
		return outbox.MessageID{}, err
	}
	return mid, err
}

// addWait enqueues a wait and records its position, for the statement that ends the join.
func (j *Joins) addWait(ctx context.Context, tx outbox.Tx, w *writes, id ID, m outbox.Message) error {
	b, err := j.outbox.Prepare(ctx, tx, nil, m)
	if err != nil {
		return err
	}
	w.enqueue(b)
	w.calls = append(w.calls, noteWait(id, b, 0))
	return nil
}

// noteWait records where the wait of a batch with an index lies.
func noteWait(id ID, b queue.Batch[outbox.MessageID], i int) *engine.Call {
	return engine.Ask(op.JoinWait{JoinID: id, ID: b.Positions()[i], MessageID: b.IDs()[i]})
}

// waitPayload is the body of a wait, named as in the seed. What its flat fields
// cannot say is in the …More ones.
type waitPayload struct {
	JoinID              ID           `json:"JoinId"`
	FailIfAnyStepFailed *bool        `json:",omitempty"` // default true
	OnCompleteTopic     string       `json:",omitempty"`
	OnCompletePayload   text         `json:",omitempty"`
	OnCompleteMore      *extraFields `json:",omitempty"`
	OnFailTopic         string       `json:",omitempty"`
	OnFailPayload       text         `json:",omitempty"`
	OnFailMore          *extraFields `json:",omitempty"`
}

// text is a payload as text. Other programs may write it as plain JSON.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(t))
	}
	if !bytes.Equal(raw, []byte("null")) {
		*t = text(raw)
	}
	return nil
}

// extraFields are the fields of a message besides topic and text.
type extraFields struct {
	Binary        []byte            `json:",omitempty"` // the payload, if it is not text
	CorrelationID string            `json:"CorrelationId,omitempty"`
	Headers       map[string]string `json:",omitempty"`
	Due           *time.Time        `json:",omitempty"`
	Expires       time.Time         `json:",omitzero"`
	Queue         string            `json:",omitempty"`
	Priority      int               `json:",omitempty"`
	OrderingKey   string            `json:",omitempty"`
}

// waitMessage returns the message of a wait. It is larger than the messages that it holds, whose
// sizes are what is limited.
func (j *Joins) waitMessage(id ID, w Wait) (outbox.Message, error) {
	p := waitPayload{JoinID: id}
	if w.AllowFailures {
		p.FailIfAnyStepFailed = new(bool)
	}
	var err error
	if p.OnCompleteTopic, p.OnCompletePayload, p.OnCompleteMore, err = j.encode("on-complete message", id, w.OnComplete); err != nil {
		return outbox.Message{}, err
	}
	if p.OnFailTopic, p.OnFailPayload, p.OnFailMore, err = j.encode("on-fail message", id, w.OnFail); err != nil {
		return outbox.Message{}, err
	}
	body, err := json.Marshal(p)
	if err != nil {
		return outbox.Message{}, err
	}
	queue := w.Queue
	if queue == "" {
		queue = j.opts.Queue
	}
	m := outbox.Message{ID: w.ID, Topic: j.opts.Topic, Queue: queue}
	if err := j.outbox.Validate(m); err != nil {
		return outbox.Message{}, err
	}
	m.Payload = body
	return m, nil
}

// encode splits a message that is to be sent later. It is validated now: later there is no
// caller to return the error to.
func (j *Joins) encode(field string, id ID, m outbox.Message) (topic string, payload text, rest *extraFields, err error) {
	if m.Topic == "" {
		return "", "", nil, nil
	}
	if !m.ID.IsZero() {
		return "", "", nil, engine.Invalid(field, "its id derives from the wait's and cannot be set")
	}
	sent := m
	sent.Headers = withJoin(m.Headers, id)
	if err := j.outbox.Validate(sent); err != nil {
		return "", "", nil, err
	}
	r := extraFields{CorrelationID: m.CorrelationID, Headers: m.Headers, Expires: m.Expires, Queue: m.Queue, Priority: m.Priority, OrderingKey: m.OrderingKey}
	if utf8.Valid(m.Payload) {
		payload = text(m.Payload)
	} else {
		r.Binary = m.Payload
	}
	r.Due = engine.Due(&m.Due)
	if r.Binary != nil || r.CorrelationID != "" || len(r.Headers) > 0 || r.Due != nil || !r.Expires.IsZero() || r.Queue != "" || r.Priority != 0 || r.OrderingKey != "" {
		rest = &r
	}
	return m.Topic, payload, rest, nil
}

// decode is the reverse of encode.
func decode(topic string, payload text, rest *extraFields) outbox.Message {
	m := outbox.Message{Topic: topic, Payload: []byte(payload)}
	if rest == nil {
		return m
	}
	if rest.Binary != nil {
		m.Payload = rest.Binary
	}
	m.CorrelationID, m.Headers, m.Queue, m.Priority = rest.CorrelationID, rest.Headers, rest.Queue, rest.Priority
	m.Due, m.Expires, m.OrderingKey = worker.Value(rest.Due), rest.Expires, rest.OrderingKey
	return m
}
