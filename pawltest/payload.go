package pawltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/blob"
)

// Keys returns keys for pawl.Sealed, the same ones each time. They are no secret; the id of the current
// one is "test".
func Keys() *pawl.Keys {
	var keys pawl.Keys
	if err := keys.Set("test", map[string][]byte{"test": []byte("pawltest: a key that is no secret")[:32]}); err != nil {
		panic(err)
	}
	return &keys
}

// NewStore returns a store of blobs in memory, for pawl.Offload.
func NewStore() blob.Store { return &memory{} }

type memory struct{ blobs sync.Map }

func (m *memory) Put(_ context.Context, key string, data []byte) error {
	m.blobs.Store(key, bytes.Clone(data))
	return nil
}

func (m *memory) Get(_ context.Context, key string) ([]byte, error) {
	data, ok := m.blobs.Load(key)
	if !ok {
		return nil, blob.ErrNotFound
	}
	return bytes.Clone(data.([]byte)), nil
}

// CheckStore fails the test if a store does not do what blob.Store asks for. It leaves some blobs there.
func CheckStore(t testing.TB, store blob.Store) {
	t.Helper()
	large := bytes.Repeat([]byte("\x00\xffpawl"), 1<<18)
	blobs := map[string][]byte{uuid.NewString(): {}, uuid.NewString(): []byte("small"), uuid.NewString(): large}
	var all sync.WaitGroup
	for key, data := range blobs {
		all.Go(func() {
			if err := store.Put(t.Context(), key, data); err != nil {
				t.Errorf("put %d bytes: %v", len(data), err)
			}
		})
	}
	all.Wait()
	for key, data := range blobs {
		if got, err := store.Get(t.Context(), key); err != nil || !bytes.Equal(got, data) {
			t.Errorf("get returned %d bytes of %d that were put, and %v", len(got), len(data), err)
		}
	}
	if _, err := store.Get(t.Context(), uuid.NewString()); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("get of an unknown key returned %v, not blob.ErrNotFound", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for key := range blobs {
		if _, err := store.Get(ended, key); errors.Is(err, blob.ErrNotFound) {
			t.Errorf("get with an ended context returned %v: messages would fail for good", err)
		}
	}
}

// BodyOf fits messages and timers of a topic whose body a function accepts, also sealed and offloaded ones.
func BodyOf[T any](topic *pawl.Topic[T], fits func(body T) bool) Matcher {
	want := fmt.Sprintf("body of topic %q that the function accepts", topic.Name())
	return Matcher{field: "payload", want: want, fits: func(i *item) bool {
		body, err := topic.Decode(context.Background(), &i.msg)
		return err == nil && i.msg.Topic == topic.Name() && fits(body)
	}}
}
