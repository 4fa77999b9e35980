package codec

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/blob"
	"github.com/bravellian/pawl/internal/engine"
)

// Offload stores what another codec encodes in a store of blobs, if it is large.
type Offload struct {
	Codec Codec // nil: the topic's default
	Store blob.Store
	Limit int // bytes of payloads that stay in the message
}

// Encode encodes body; what is large is stored in no transaction of the program.
func (o Offload) Encode(body any) ([]byte, error) {
	return o.EncodeFor(context.Background(), Target{}, body)
}

// Decode decodes a payload.
func (o Offload) Decode(payload []byte, body any) error {
	return o.DecodeFor(context.Background(), Target{}, payload, body)
}

// EncodeFor encodes body. A payload that begins like a reference is stored, too, so that it is not
// mistaken for one. That of a job stays in the job: it would outlive its blob.
func (o Offload) EncodeFor(ctx context.Context, t Target, body any) ([]byte, error) {
	payload, err := Encode(ctx, o.Codec, t, body)
	switch like := is(offloaded, payload); {
	case err != nil || !like && (t.Template || len(payload) <= o.Limit):
		return payload, err
	case t.Template:
		return nil, engine.Invalid("body", "topic %q: a job's payload begins like a reference to a blob", t.Topic)
	}
	key, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	r := reference{key, uint64(len(payload)), sha256.Sum256(payload)}
	if err := o.put(ctx, t.Tx, r.name(), payload); err != nil {
		return nil, fmt.Errorf("blob %s: %w", r.name(), err)
	}
	return r.append(nil), nil
}

// put stores a payload, if possible in the transaction of the message.
func (o Offload) put(ctx context.Context, tx blob.Tx, key string, payload []byte) error {
	if store, ok := o.Store.(blob.TxStore); ok && tx != nil {
		return store.PutTx(ctx, tx, key, payload)
	}
	return o.Store.Put(ctx, key, payload)
}

// DecodeFor decodes a payload, or what it refers to.
func (o Offload) DecodeFor(ctx context.Context, t Target, payload []byte, body any) error {
	r, ok, err := parseReference(payload)
	switch {
	case err != nil:
		return fmt.Errorf("reference to a blob: %w", err)
	case !ok:
		return Decode(ctx, o.Codec, t, payload, body)
	}
	data, err := o.Store.Get(ctx, r.name())
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return fmt.Errorf("blob %s: %w", r.name(), err)
	case err != nil:
		return unavailable{fmt.Errorf("blob %s: %w", r.name(), err)}
	case uint64(len(data)) != r.size || sha256.Sum256(data) != r.hash:
		return fmt.Errorf("blob %s: %w", r.name(), blob.ErrChanged)
	}
	return Decode(ctx, o.Codec, t, data, body)
}
