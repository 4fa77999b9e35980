package codec

import (
	"fmt"
	"reflect"
)

// Funcs encodes and decodes with the functions of a library.
type Funcs[M any] struct {
	Marshal   func(M) ([]byte, error)
	Unmarshal func([]byte, M) error
}

// Encode returns the result of Marshal.
func (f Funcs[M]) Encode(body any) ([]byte, error) {
	m, ok := body.(M)
	if !ok {
		return nil, fmt.Errorf("a %T cannot be encoded by %T", body, f.Marshal)
	}
	return f.Marshal(m)
}

// Decode calls Unmarshal. body points to an M, or to a pointer that is one and is set to a new
// value: messages of protobuf are pointers.
func (f Funcs[M]) Decode(payload []byte, body any) error {
	m, ok := body.(M)
	if v := reflect.ValueOf(body); !ok && v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Pointer {
		v.Elem().Set(reflect.New(v.Elem().Type().Elem()))
		m, ok = v.Elem().Interface().(M)
	}
	if !ok {
		return fmt.Errorf("a %T cannot be decoded by %T", body, f.Unmarshal)
	}
	return f.Unmarshal(payload, m)
}
