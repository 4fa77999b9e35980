package pawl

import "github.com/bravellian/pawl/internal/codec"

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
