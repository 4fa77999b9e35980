package pawltest_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/blob"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/timer"
)

// wrong is a store in memory, but for what a test replaces.
type wrong struct {
	blob.Store
	put func(data []byte) error
	get func(ctx context.Context, data []byte, err error) ([]byte, error)
}

func (w wrong) Put(ctx context.Context, key string, data []byte) error {
	if w.put != nil {
		return w.put(data)
	}
	return w.Store.Put(ctx, key, data)
}

func (w wrong) Get(ctx context.Context, key string) ([]byte, error) {
	data, err := w.Store.Get(ctx, key)
	if w.get != nil {
		return w.get(ctx, data, err)
	}
	return data, err
}

// D-703: the store in memory does what is asked for; one that does not fails the test.
func TestCheckStore(t *testing.T) {
	pawltest.CheckStore(t, pawltest.NewStore())
	type get = func(ctx context.Context, data []byte, err error) ([]byte, error)
	for want, s := range map[string]wrong{
		"put 5 bytes: full": {put: func([]byte) error { return errors.New("full") }},
		"get returned 4 bytes of 5": {get: get(func(_ context.Context, data []byte, err error) ([]byte, error) {
			return bytes.TrimSuffix(data, []byte("l")), err
		})},
		"get of an unknown key": {get: get(func(_ context.Context, data []byte, _ error) ([]byte, error) { return data, nil })},
		"get with an ended context": {get: get(func(ctx context.Context, data []byte, err error) ([]byte, error) {
			if ctx.Err() != nil {
				err = blob.ErrNotFound
			}
			return data, err
		})},
	} {
		s.Store = pawltest.NewStore()
		if out := failure(t, func(t testing.TB) { pawltest.CheckStore(t, s) }); !strings.Contains(out, want) {
			t.Errorf("%q, not %q", out, want)
		}
	}
}

// D-703: assertions read bodies of messages and timers that are sealed and offloaded, of their topic alone.
func TestBodyOf(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(testing.TB, ...pawltest.Options) *pawltest.DB) {
		d := open(t)
		opts := pawl.TopicOptions{Codec: pawl.Offload(pawl.Sealed(nil, pawltest.Keys()), pawltest.NewStore(), 0)}
		topic, other := pawl.NewTopic[mail]("mail", opts), pawl.NewTopic[mail]("other", opts)
		_, err := topic.Enqueue(t.Context(), d.Pawl, mail{To: "ada"})
		check(t, err)
		_, err = topic.Schedule(t.Context(), d.Pawl, timer.Timer{Due: time.Now().Add(time.Hour)}, mail{To: "bob"})
		check(t, err)
		to := func(name string) func(mail) bool { return func(m mail) bool { return m.To == name } }
		d.AssertEnqueued(t, pawltest.BodyOf(topic, to("ada")))
		d.AssertNotEnqueued(t, pawltest.BodyOf(topic, to("bob")))
		d.AssertNotEnqueued(t, pawltest.BodyOf(other, to("ada")))
		d.AssertTimer(t, pawltest.BodyOf(topic, to("bob")))
	})
}
