package pawl_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/blob"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/codec"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/timer"
)

// once is the retry policy of messages whose first failure is final.
func once(d dbtest.Database, t *testing.T) *pawl.Pawl {
	t.Helper()
	p, err := pawl.New(d, pawl.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler), Retry: &outbox.RetryPolicy{MaxAttempts: 1}})
	must(t, err)
	return p
}

// key returns a key of Sealed.
func key(b byte) []byte { return []byte(strings.Repeat(string('a'+rune(b)), 32)) }

// secretly returns a topic whose payloads are sealed.
func secretly(name string, keys *pawl.Keys) *pawl.Topic[string] {
	return pawl.NewTopic[string](name, pawl.TopicOptions{Codec: pawl.Sealed(nil, keys)})
}

// everyWay enqueues bodies in each way in which a topic does, and returns what its handlers are to get.
func everyWay(t *testing.T, d dbtest.Database, p *pawl.Pawl, topic *pawl.Topic[string], body func(way string) string) (all []string) {
	t.Helper()
	want := func(way string) string {
		all = append(all, body(way))
		return body(way)
	}
	_, err := topic.Enqueue(t.Context(), p, want("enqueue"), pawl.EnqueueOptions{UniqueKey: "u"})
	must(t, err)
	_, err = topic.Enqueue(t.Context(), p, want("own id"), pawl.EnqueueOptions{ID: outbox.MessageID{7}})
	must(t, err)
	_, err = topic.EnqueueBatch(t.Context(), p, []string{want("batch"), want("batch 2")}, pawl.EnqueueOptions{OrderingKey: "o"})
	must(t, err)
	_, err = topic.Schedule(t.Context(), p, timer.Timer{Due: time.Now().Add(-time.Hour)}, want("timer"))
	must(t, err)
	step, err := topic.Message(want("step"))
	must(t, err)
	after, err := topic.Message(want("after"))
	must(t, err)
	tx := d.Begin(t)
	_, err = topic.EnqueueTx(t.Context(), p, tx, want("enqueue tx"))
	must(t, err)
	_, err = topic.EnqueueBatchTx(t.Context(), p, tx, []string{want("batch tx")})
	must(t, err)
	_, err = topic.ScheduleTx(t.Context(), p, tx, timer.Timer{Due: time.Now().Add(-time.Hour)}, want("timer tx"))
	must(t, err)
	_, err = p.Joins.FanOutTx(t.Context(), tx, join.Spec{ExpectedSteps: 1}, []outbox.Message{step}, join.Wait{OnComplete: after})
	must(t, err)
	must(t, tx.Commit())
	must(t, p.Jobs.Put(t.Context(), topic.Every("@yearly", "", want("job"), job.Job{Name: "yearly"})))
	_, err = p.Jobs.Trigger(t.Context(), "yearly")
	must(t, err)
	slices.Sort(all)
	return all
}

// handled runs until nothing is left and returns the bodies.
func handled(t *testing.T, p *pawl.Pawl, topics ...*pawl.Topic[string]) []string {
	t.Helper()
	var got seen
	for _, topic := range topics {
		topic.Handle(p, func(_ context.Context, d *pawl.Delivery[string]) error {
			got.add(d.Body)
			return nil
		})
	}
	must(t, p.Run(t.Context()))
	return got.sorted()
}

// D-700: each way into a topic seals, and its handlers get what was sealed; the database has no body.
func TestSealedEveryWay(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		p := drained(t, d)
		topic := secretly("secret", pawltest.Keys())
		want := everyWay(t, d, p, topic, func(way string) string { return "plainly " + way })
		for _, i := range listed(t, p) {
			if what, ok := codec.Describe(i.Payload); !ok && i.Topic == "secret" || ok && !strings.HasPrefix(what, "sealed with key test, ") || strings.Contains(string(i.Payload), "plainly") {
				t.Errorf("%s %s: %q", i.Topic, what, i.Payload)
			}
		}
		if got := handled(t, p, topic); !slices.Equal(got, want) {
			t.Errorf("%q, not %q", got, want)
		}
	})
}

// listed returns all messages.
func listed(t *testing.T, p *pawl.Pawl) (all []outbox.Info) {
	t.Helper()
	for i, err := range p.Outbox.List(t.Context(), outbox.ListOptions{}) {
		must(t, err)
		all = append(all, i)
	}
	return all
}

// swap exchanges the payloads of two messages, as somebody who may write to the database can.
func swap(t *testing.T, d dbtest.Database, p *pawl.Pawl, a, b outbox.MessageID) {
	t.Helper()
	first, err := p.Outbox.Get(t.Context(), a)
	must(t, err)
	second, err := p.Outbox.Get(t.Context(), b)
	must(t, err)
	for _, put := range []struct {
		at      outbox.Position
		payload []byte
	}{{first.Position, second.Payload}, {second.Position, first.Payload}} {
		_, err := d.SQL.ExecContext(t.Context(), "UPDATE "+d.Table("outbox_message")+" SET payload = $1 WHERE id = $2", put.payload, int64(put.at))
		must(t, err)
	}
}

// D-700: a payload in the row of another message, or of another topic's, is refused and not handled.
func TestSealedIsBound(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		p := once(d, t)
		topic, other := secretly("pay", pawltest.Keys()), secretly("refund", pawltest.Keys())
		ids, err := topic.EnqueueBatch(t.Context(), p, []string{"a", "b"})
		must(t, err)
		swap(t, d, p, ids[0], ids[1])
		var of []outbox.MessageID
		for _, topic := range []*pawl.Topic[string]{topic, other} { // sealed before there is an id
			m, err := topic.Message("c")
			must(t, err)
			id, err := p.Outbox.Enqueue(t.Context(), m)
			must(t, err)
			of = append(of, id)
		}
		swap(t, d, p, of[0], of[1])
		if got := handled(t, p, topic, other); len(got) > 0 {
			t.Errorf("handled %q", got)
		}
		for id, want := range map[outbox.MessageID]string{ids[0]: "sealed for message " + ids[1].String(), ids[1]: "sealed for message " + ids[0].String(), of[0]: `sealed for topic "refund"`, of[1]: `sealed for topic "pay"`} {
			i, err := p.Outbox.Get(t.Context(), id)
			must(t, err)
			if i.Status != outbox.Failed || !strings.Contains(i.LastError, pawl.ErrNotAuthentic.Error()) || !strings.Contains(i.LastError, want) {
				t.Errorf("%v with %q, not %q", i.Status, i.LastError, want)
			}
			if _, err := topic.Decode(t.Context(), &i.Message); !errors.Is(err, pawl.ErrNotAuthentic) {
				t.Error(err)
			}
		}
	})
}

// D-700: messages of a topic's other names, redriven ones and those that got another topic are opened.
func TestSealedRetopic(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		p := once(d, t)
		was, now := secretly("was", pawltest.Keys()), secretly("now", pawltest.Keys()).Also("was")
		for _, body := range []string{"moved", "fails"} {
			_, err := was.Enqueue(t.Context(), p, body)
			must(t, err)
		}
		_, err := p.Outbox.Operator(access.Key{}).Retopic(t.Context(), acts.Retopic{From: "was", Topic: "now"})
		must(t, err)
		_, err = was.Enqueue(t.Context(), p, "not moved")
		must(t, err)
		var got seen
		failed := false
		now.Handle(p, func(_ context.Context, d *pawl.Delivery[string]) error {
			if d.Body == "fails" && !failed {
				failed = true
				return errors.New("no")
			}
			got.add(d.Body)
			return nil
		})
		must(t, p.Run(t.Context()))
		_, err = p.Outbox.Redrive(t.Context(), outbox.FailedFilter{Topic: "now"})
		must(t, err)
		must(t, p.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"fails", "moved", "not moved"}) {
			t.Errorf("%q", all)
		}
	})
}

// D-700: the inbox opens what a topic sealed for it, and what a message of another pawl with that id has.
func TestSealedInTheInbox(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		p := once(d, t)
		topic := secretly("hook", pawltest.Keys())
		id := outbox.MessageID{9}
		bound, err := topic.Message("bound", pawl.EnqueueOptions{ID: id})
		must(t, err)
		plain, err := topic.Message("to the topic")
		must(t, err)
		for id, payload := range map[string][]byte{id.String(): bound.Payload, "other": bound.Payload, "free": plain.Payload} {
			_, err := p.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: id}, Topic: "hook", Payload: payload})
			must(t, err)
		}
		var got seen
		topic.HandleInboxTx(p, func(_ context.Context, _ pawl.Tx, r *pawl.Received[string]) error {
			got.add(r.Body)
			return nil
		})
		must(t, p.Run(t.Context()))
		if all := got.sorted(); !slices.Equal(all, []string{"bound", "to the topic"}) {
			t.Errorf("%q", all)
		}
	})
}

// D-700: a job is sealed the same each time, so that Sync leaves it alone until the key is another.
func TestSealedJobsAreCompared(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := drained(t, e.Open(t))
		keys := &pawl.Keys{}
		topic := secretly("report", keys)
		for i, current := range []string{"1", "1", "2"} {
			must(t, keys.Set(current, map[string][]byte{"1": key(1), "2": key(2)}))
			done, err := p.Jobs.Sync(t.Context(), "me", []job.Job{topic.Every("@daily", "", "body")}, job.SyncOptions{})
			must(t, err)
			if changed := len(done.Stored); changed != []int{1, 0, 1}[i] {
				t.Errorf("sync %d changed %d", i, changed)
			}
		}
	})
}

// D-701: an older key opens what it sealed; without it, the error names its id, and is retried.
func TestSealedRotation(t *testing.T) {
	keys := &pawl.Keys{}
	topic := pawl.NewTopic[string]("t", pawl.TopicOptions{Codec: pawl.Sealed(nil, keys), UndecodableFails: true})
	if _, err := topic.Message("x"); !errors.Is(err, pawl.ErrNoKey) || !strings.Contains(err.Error(), "Keys.Set was not called") {
		t.Error(err)
	}
	must(t, keys.Set("old", map[string][]byte{"old": key(1)}))
	old, err := topic.Message("body")
	must(t, err)
	must(t, keys.Set("new", map[string][]byte{"old": key(1), "new": key(2)}))
	m, err := topic.Message("body")
	must(t, err)
	if what, _ := codec.Describe(m.Payload); !strings.HasPrefix(what, "sealed with key new, ") {
		t.Error(what)
	}
	for _, m := range []outbox.Message{old, m} {
		if body, err := topic.Decode(t.Context(), &m); err != nil || body != "body" {
			t.Error(body, err)
		}
	}
	must(t, keys.Set("new", map[string][]byte{"new": key(2)}))
	if _, err := topic.Decode(t.Context(), &old); !errors.Is(err, pawl.ErrNoKey) || !strings.Contains(err.Error(), `"old"`) || worker.IsPermanent(err) {
		t.Error(err)
	}
	must(t, keys.Set("old", map[string][]byte{"old": key(3)}))
	if _, err := topic.Decode(t.Context(), &old); !errors.Is(err, pawl.ErrNotAuthentic) || !strings.Contains(err.Error(), `"old"`) || strings.Contains(err.Error(), "bbb") || !worker.IsPermanent(err) {
		t.Error(err)
	}
}

// D-701: each changed, missing or added byte is noticed, and so is a payload that is not sealed.
func TestSealedChanged(t *testing.T) {
	topic := secretly("t", pawltest.Keys())
	sealed, err := topic.Message("body", pawl.EnqueueOptions{ID: outbox.MessageID{1}})
	must(t, err)
	refused := func(payload []byte, what string) {
		t.Helper()
		m := sealed
		m.Payload = payload
		if body, err := topic.Decode(t.Context(), &m); !errors.Is(err, pawl.ErrNotAuthentic) && !errors.Is(err, pawl.ErrNoKey) {
			t.Errorf("%s: %q, %v", what, body, err)
		}
	}
	for i := range sealed.Payload {
		changed := slices.Clone(sealed.Payload)
		changed[i] ^= 1
		refused(changed, fmt.Sprintf("byte %d", i))
		refused(sealed.Payload[:i], fmt.Sprintf("%d bytes", i))
	}
	refused(append(slices.Clone(sealed.Payload), 0), "one more")
	refused([]byte(`"body"`), "JSON")
}

// D-701: keys that cannot be used are refused by their ids, and those from before stay.
func TestKeysRefuse(t *testing.T) {
	keys := pawltest.Keys()
	for want, set := range map[string]map[string][]byte{
		`no key has the current id "a"`: {"b": key(1)},
		`key "a" has 16 bytes, not 32`:  {"a": key(1)[:16]},
		`id "a b"`:                      {"a": key(1), "a b": key(2)},
		`id ""`:                         {"a": key(1), "": key(2)},
	} {
		if err := keys.Set("a", set); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
	m, err := secretly("t", keys).Message("still")
	must(t, err)
	if what, _ := codec.Describe(m.Payload); !strings.HasPrefix(what, "sealed with key test, ") {
		t.Error(what)
	}
}

// large returns a body that is offloaded by offloading.
func large(way string) string { return way + strings.Repeat("x", 2<<10) }

func offloading(name string, c pawl.Codec) *pawl.Topic[string] {
	return pawl.NewTopic[string](name, pawl.TopicOptions{Codec: c})
}

// D-702: in each way into a topic what is large is stored outside, but for jobs; with what is sealed in
// either order.
func TestOffloadEveryWay(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		store := &blob.SQL{DB: d.SQL, Table: d.Table("pawl_blob")}
		must(t, store.Migrate(t.Context()))
		p := drained(t, d)
		keys := pawltest.Keys()
		var topics []*pawl.Topic[string]
		var want []string
		for name, c := range map[string]pawl.Codec{
			"plain": pawl.Offload(nil, store, 1<<10), "sealed, then offloaded": pawl.Offload(pawl.Sealed(nil, keys), store, 1<<10),
			"offloaded, then sealed": pawl.Sealed(pawl.Offload(nil, store, 1<<10), keys),
		} {
			topic := offloading(name, c)
			topics = append(topics, topic)
			ids, err := topic.EnqueueBatch(t.Context(), p, []string{large(name), name})
			must(t, err)
			big, err := p.Outbox.Get(t.Context(), ids[0])
			must(t, err)
			if len(big.Payload) > 1<<10 {
				t.Errorf("%s: a payload of %d bytes", name, len(big.Payload))
			}
			want = append(want, large(name), name)
		}
		if n := d.Count(t, "SELECT count(*) FROM "+store.Table); n != len(topics) {
			t.Errorf("%d blobs", n)
		}
		every := offloading("every", pawl.Offload(nil, store, 1<<10))
		want = append(want, everyWay(t, d, p, every, large)...)
		slices.Sort(want)
		if got := handled(t, p, append(topics, every)...); !slices.Equal(got, want) {
			t.Errorf("%d handled, not %d", len(got), len(want))
		}
		if n := d.Count(t, "SELECT count(*) FROM "+store.Table); n != len(topics)+10 {
			t.Errorf("%d blobs", n)
		}
	})
}

// D-702: a blob in pawl's database is there if its transaction commits.
func TestOffloadRollback(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		store := &blob.SQL{DB: d.SQL, Table: d.Table("pawl_blob")}
		must(t, store.Migrate(t.Context()))
		p := drained(t, d)
		topic := offloading("t", pawl.Offload(nil, store, 0))
		tx := d.Begin(t)
		_, err := topic.EnqueueTx(t.Context(), p, tx, "body")
		must(t, err)
		_, err = topic.ScheduleTx(t.Context(), p, tx, timer.Timer{Due: time.Now()}, "body")
		must(t, err)
		must(t, tx.Rollback())
		if n := d.Count(t, "SELECT count(*) FROM "+store.Table); n != 0 {
			t.Errorf("%d blobs of a transaction that was rolled back", n)
		}
	})
}

// D-702: a blob that is missing or changed, and a body that is too large, are errors that say so. A store
// that fails says nothing of the payload.
func TestOffloadErrors(t *testing.T) {
	store := &failing{Store: pawltest.NewStore()}
	topic := pawl.NewTopic[[]byte]("t", pawl.TopicOptions{Codec: pawl.Offload(nil, store, 10), UndecodableFails: true})
	m, err := topic.Message([]byte("more than ten bytes"))
	must(t, err)
	for _, c := range []struct {
		store failing
		want  error
		final bool
	}{
		{failing{Store: pawltest.NewStore()}, blob.ErrNotFound, true},
		{failing{Store: store.Store, append: "x"}, blob.ErrChanged, true},
		{failing{Store: store.Store, err: errors.New("no network")}, nil, false},
	} {
		*store = c.store
		_, err := topic.Decode(t.Context(), &m)
		if c.want == nil {
			c.want = c.store.err
		}
		if !errors.Is(err, c.want) || worker.IsPermanent(err) != c.final {
			t.Errorf("%v, not %v", err, c.want)
		}
	}
	if _, err := topic.Message([]byte("more than ten bytes")); !errors.Is(err, store.err) {
		t.Error(err)
	}
	*store = failing{Store: pawltest.NewStore()}
	m, err = topic.Message(m.Payload) // it begins like a reference, and is none
	must(t, err)
	if body, err := topic.Decode(t.Context(), &m); err != nil || len(body) == 0 || body[0] != 0xff {
		t.Error(body, err)
	}
	if jb := topic.Every("@daily", "", m.Payload); !errors.Is(jb.Validate(), pawl.ErrInvalid) {
		t.Error(err)
	}
}

// failing is a store that returns something else.
type failing struct {
	blob.Store
	append string
	err    error
}

func (f *failing) Put(ctx context.Context, key string, data []byte) error {
	return errors.Join(f.err, f.Store.Put(ctx, key, data))
}

func (f *failing) Get(ctx context.Context, key string) ([]byte, error) {
	data, err := f.Store.Get(ctx, key)
	return append(data, f.append...), errors.Join(f.err, err)
}

// D-702: what is sealed and larger than a payload may be is refused; offloaded, it is not.
func TestPayloadLimit(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		p := drained(t, e.Open(t))
		body := strings.Repeat("x", limits.Payload)
		_, err := secretly("t", pawltest.Keys()).Enqueue(t.Context(), p, body)
		var invalid pawl.InvalidError
		if !errors.As(err, &invalid) || invalid.Field() != "payload" || invalid.Limit() != limits.Payload {
			t.Error(err)
		}
		_, err = offloading("t", pawl.Offload(pawl.Sealed(nil, pawltest.Keys()), pawltest.NewStore(), 64<<10)).Enqueue(t.Context(), p, body)
		must(t, err)
	})
}
