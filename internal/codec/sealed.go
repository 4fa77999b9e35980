package codec

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
)

// keyBytes is the length of a key: AES-256.
const keyBytes = 32

var (
	// ErrNoKey is pawl.ErrNoKey.
	ErrNoKey = errors.New("no such key")
	// ErrNotAuthentic is pawl.ErrNotAuthentic.
	ErrNotAuthentic = errors.New("payload is not authentic")
)

// Keys are keys by their ids. They are safe for concurrent use.
type Keys struct{ set atomic.Pointer[keySet] }

type keySet struct {
	current string
	keys    map[string][]byte
}

// Set is pawl.Keys.Set.
func (k *Keys) Set(current string, keys map[string][]byte) error {
	own := &keySet{current, make(map[string][]byte, len(keys))}
	for id, key := range keys {
		switch {
		case !validKeyID(id):
			return engine.Invalid("keys", "id %q: not 1 to %d printable ASCII characters without spaces", id, maxKeyID)
		case len(key) != keyBytes:
			return engine.Invalid("keys", "key %q has %d bytes, not %d", id, len(key), keyBytes)
		}
		own.keys[id] = append([]byte(nil), key...)
	}
	if own.keys[current] == nil {
		return engine.Invalid("keys", "no key has the current id %q", current)
	}
	k.set.Store(own)
	return nil
}

// key returns a key by its id; "" for the current one.
func (k *Keys) key(id string) (string, []byte, error) {
	set := k.set.Load()
	if set == nil {
		return "", nil, unavailable{fmt.Errorf("%w: Keys.Set was not called", ErrNoKey)}
	}
	if id == "" {
		id = set.current
	}
	key := set.keys[id]
	if key == nil {
		return "", nil, unavailable{fmt.Errorf("key %q: %w", id, ErrNoKey)}
	}
	return id, key, nil
}

// Sealed encrypts what another codec encodes.
type Sealed struct {
	Codec Codec // nil: the topic's default
	Keys  *Keys
}

// Encode seals for no topic.
func (s Sealed) Encode(body any) ([]byte, error) {
	return s.EncodeFor(context.Background(), Target{}, body)
}

// Decode opens what was sealed for any topic and message.
func (s Sealed) Decode(payload []byte, body any) error {
	return s.DecodeFor(context.Background(), Target{}, payload, body)
}

// EncodeFor seals with the current key, for the target's topic and, if it is known, id.
func (s Sealed) EncodeFor(ctx context.Context, t Target, body any) ([]byte, error) {
	plain, err := Encode(ctx, s.Codec, t, body)
	if err != nil {
		return nil, err
	}
	id, key, err := s.Keys.key("")
	if err != nil {
		return nil, err
	}
	b := head(id, t.Topic, t.ID)
	if t.Template { // the same payload for the same body: job.Jobs.Sync compares them
		mac := hmac.New(sha256.New, key)
		mac.Write(b)
		mac.Write(plain)
		b = append(b, mac.Sum(nil)[:saltBytes]...)
	} else {
		b = append(b, make([]byte, saltBytes)...)
		rand.Read(b[len(b)-saltBytes:])
	}
	aead, nonce, err := cipherOf(key, b[len(b)-saltBytes:])
	if err != nil {
		return nil, err
	}
	return aead.Seal(b, nonce, plain, b), nil
}

// DecodeFor opens a payload that was sealed for the target. Where the target has no topic,
// what it was sealed for is not compared.
func (s Sealed) DecodeFor(ctx context.Context, t Target, payload []byte, body any) error {
	l, ok, err := parseSealed(payload)
	switch {
	case !ok:
		return fmt.Errorf("%w: it is not sealed", ErrNotAuthentic)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotAuthentic, err)
	case t.Topic != "" && !t.takes(l.topic):
		return fmt.Errorf("%w: sealed for topic %q", ErrNotAuthentic, l.topic)
	case t.Topic != "" && l.id != [16]byte{} && l.id != t.ID:
		return fmt.Errorf("%w: sealed for message %s", ErrNotAuthentic, uuid.UUID(l.id))
	}
	_, key, err := s.Keys.key(l.keyID)
	if err != nil {
		return err
	}
	aead, nonce, err := cipherOf(key, l.salt)
	if err != nil {
		return err
	}
	plain, err := aead.Open(nil, nonce, l.box, l.head)
	if err != nil { // which of these it is cannot be known
		return fmt.Errorf("%w: it was changed, or sealed with another key %q", ErrNotAuthentic, l.keyID)
	}
	return Decode(ctx, s.Codec, t, plain, body)
}

// cipherOf returns the cipher and the nonce of one payload. Each has a key of its own, derived
// from its salt: so one key seals any number of payloads, where 2^32 random nonces would be the
// most.
func cipherOf(key, salt []byte) (cipher.AEAD, []byte, error) {
	const nonceBytes = 12
	derived, err := hkdf.Key(sha256.New, key, salt, "pawl sealed payload 1", keyBytes+nonceBytes)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(derived[:keyBytes])
	if err != nil {
		return nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return aead, derived[keyBytes:], err
}
