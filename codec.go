package pawl

import (
	"github.com/bravellian/pawl/blob"
	"github.com/bravellian/pawl/internal/codec"
)

// Codec turns the bodies of a topic into payloads and back. It must be safe for
// concurrent use. Its errors are stored and logged: they must not quote payloads.
type Codec interface {
	// Encode returns the payload of body, a T of Topic[T].
	Encode(body any) ([]byte, error)
	// Decode reads a payload into body, a *T of Topic[T].
	Decode(payload []byte, body any) error
}

// CodecOf returns a codec that uses the functions of a library. For protobuf:
//
//	pawl.NewTopic[*orderpb.Order]("order.created", pawl.TopicOptions{Codec: pawl.CodecOf(proto.Marshal, proto.Unmarshal)})
//
// It also takes the Marshal and Unmarshal of JSON libraries, with which M is any.
func CodecOf[M any](marshal func(M) ([]byte, error), unmarshal func([]byte, M) error) Codec {
	return codec.Funcs[M]{Marshal: marshal, Unmarshal: unmarshal}
}

// Sealed returns a codec that encrypts what c encodes, with AES-256-GCM and the current key; nil for c is the
// topic's default. A payload is bound to its topic and, where the id is known when it is enqueued, to its message:
// in the row of another it is [ErrNotAuthentic]. Headers, keys, errors and, without a codec, results of joins are not encrypted.
// See docs/payloads.md.
//
//	var keys pawl.Keys // filled by main
//	var OrderCreated = pawl.NewTopic[Order]("order.created", pawl.TopicOptions{Codec: pawl.Sealed(nil, &keys)})
func Sealed(c Codec, keys *Keys) Codec { return codec.Sealed{Codec: c, Keys: &keys.keys} }

// Keys are the keys of [Sealed], by ids that payloads name. The zero value has none. It is safe for concurrent use.
type Keys struct{ keys codec.Keys }

// Set replaces all keys. current is the id of the one that seals, the others open what was sealed before. An id is
// 1 to 64 printable ASCII characters without spaces, a key 32 random bytes. Other values are [ErrInvalid], and
// change nothing. To rotate, give every process the new key before one seals with it.
func (k *Keys) Set(current string, keys map[string][]byte) error { return k.keys.Set(current, keys) }

var (
	// ErrNoKey is returned, with the id, for a payload whose key [Keys] do not have, and before Set. It
	// is an ordinary failed attempt, also with TopicOptions.UndecodableFails.
	ErrNoKey = codec.ErrNoKey
	// ErrNotAuthentic is returned for a payload that is not sealed, was changed, or was sealed with another
	// key of that id or for another topic or message.
	ErrNotAuthentic = codec.ErrNotAuthentic
)

// Offload returns a codec that puts what c encodes to more than limit bytes into a store, and a reference into the
// message; nil for c is the topic's default. A blob is stored before its message, in the message's transaction if
// the store is a blob.TxStore, and stays when the message is deleted: see docs/payloads.md for when to delete it.
// To encrypt, offload what is sealed: Offload(Sealed(c, keys), store, 64<<10).
func Offload(c Codec, store blob.Store, limit int) Codec {
	return codec.Offload{Codec: c, Store: store, Limit: limit}
}
