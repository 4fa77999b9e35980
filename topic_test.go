package pawl_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

type parcel struct {
	Number int `json:"number"`
}

// drained returns the pawl of a new database whose Run returns when nothing is left.
func drained(t *testing.T, d dbtest.Database) *pawl.Pawl {
	t.Helper()
	p, err := pawl.New(d, pawl.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// D-27: each way into a topic reaches the one handler, with the body that went in.
func TestTopicHandlesWhatIsWritten(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		topic := pawl.NewTopic[parcel]("parcel", pawl.TopicOptions{Queue: "parcels", Priority: 3})
		d := e.Open(t)
		p, err := pawl.New(d, pawl.Options{StopWhenEmpty: true, Queues: []string{"parcels"}, Logger: slog.New(slog.DiscardHandler)})
		must(t, err)
		tx := d.Begin(t)
		_, err = topic.EnqueueTx(t.Context(), p, tx, parcel{1}, pawl.EnqueueOptions{CorrelationID: "c", Headers: map[string]string{"h": "v"}})
		must(t, err)
		_, err = topic.EnqueueBatchTx(t.Context(), p, tx, []parcel{{2}, {3}})
		must(t, err)
		_, err = topic.ScheduleTx(t.Context(), p, tx, timer.Timer{Due: time.Now().Add(-time.Second), Key: "k"}, parcel{4})
		must(t, err)
		must(t, tx.Commit())
		id := outbox.MessageID{7}
		for range 2 { // the same id is the same message
			_, err = topic.Enqueue(t.Context(), p, parcel{5}, pawl.EnqueueOptions{ID: id})
			must(t, err)
		}
		_, err = topic.EnqueueBatch(t.Context(), p, []parcel{{6}})
		must(t, err)
		_, err = topic.Schedule(t.Context(), p, timer.Timer{Due: time.Now().Add(-time.Second)}, parcel{8})
		must(t, err)
		must(t, p.Jobs.Put(t.Context(), topic.Every("@yearly", "", parcel{9}, job.Job{Name: "daily"})))
		_, err = p.Jobs.Trigger(t.Context(), "daily")
		must(t, err)

		got := make(chan *pawl.Delivery[parcel], 20)
		topic.Handle(p, func(_ context.Context, d *pawl.Delivery[parcel]) error { got <- d; return nil })
		must(t, p.Run(t.Context()))
		close(got)
		var numbers []int
		for d := range got {
			numbers = append(numbers, d.Body.Number)
			if d.Topic != "parcel" || d.Queue != "parcels" || d.Priority != 3 {
				t.Errorf("message %d: topic %q, queue %q, priority %d", d.Body.Number, d.Topic, d.Queue, d.Priority)
			}
			if d.Body.Number == 1 && (d.CorrelationID != "c" || d.Headers["h"] != "v") {
				t.Errorf("correlation id %q, headers %v", d.CorrelationID, d.Headers)
			}
		}
		if slices.Sort(numbers); !slices.Equal(numbers, []int{1, 2, 3, 4, 5, 6, 8, 9}) {
			t.Errorf("handled %v", numbers)
		}
	})
}

// noParcel is a payload that is no parcel, and must not be quoted: encoding/json does so with a
// number that is more than an int holds.
const noParcel = `{"number":12345678901234567890123}`

// D-400, D-5: a payload that cannot be decoded is a failed attempt of single handlers, batches, timers,
// jobs and the inbox, without their handler, and final where the topic says so. The error
// does not quote it.
func TestTopicUndecodable(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		for final, attempts := range map[bool]int{false: 3, true: 1} {
			testTopicUndecodable(t, e.Open(t), final, attempts)
		}
	})
}

func testTopicUndecodable(t *testing.T, d dbtest.Database, final bool, attempts int) {
	t.Helper()
	atOnce := outbox.RetryPolicy{MaxAttempts: 3, Delay: func(int) time.Duration { return 0 }}
	p, err := pawl.New(d, pawl.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler), Retry: &atOnce})
	must(t, err)
	opts := pawl.TopicOptions{UndecodableFails: final}
	single, batch, once := pawl.NewTopic[parcel]("single", opts), pawl.NewTopic[parcel]("batch", opts), pawl.NewTopic[parcel]("once", opts)
	for _, topic := range []string{"single", "batch"} {
		_, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: topic, Payload: []byte(noParcel)})
		must(t, err)
		_, err = p.Timers.Schedule(t.Context(), timer.Timer{Topic: topic, Payload: []byte(noParcel), Due: time.Now().Add(-time.Second)})
		must(t, err)
		must(t, p.Jobs.Put(t.Context(), job.Job{Name: topic, Topic: topic, Payload: []byte(noParcel), Schedule: "@yearly"}))
		_, err = p.Jobs.Trigger(t.Context(), topic)
		must(t, err)
	}
	for _, topic := range []string{"single", "once"} {
		_, err := p.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: topic}, Topic: topic, Payload: []byte(noParcel)})
		must(t, err)
	}
	single.Handle(p, func(context.Context, *pawl.Delivery[parcel]) error { t.Error("handled"); return nil })
	batch.HandleBatch(p, func(context.Context, []*pawl.Delivery[parcel]) []error { t.Error("handled"); return nil }, outbox.BatchOptions{Max: 10})
	single.HandleInbox(p, func(context.Context, *pawl.Received[parcel]) error { t.Error("handled"); return nil })
	once.HandleInboxTx(p, func(context.Context, pawl.Tx, *pawl.Received[parcel]) error { t.Error("handled"); return nil })
	must(t, p.Run(t.Context()))
	for _, topic := range []string{"single", "batch"} {
		failed, err := engine.Collect(p.Outbox.List(t.Context(), outbox.ListOptions{Topic: topic, Status: outbox.Failed, Queue: outbox.DefaultQueue}), 100)
		must(t, err)
		if len(failed) != 3 {
			t.Errorf("final %v: %d of 3 messages of topic %s have failed", final, len(failed), topic)
		}
		for i := range failed {
			tried, err := p.Outbox.Operator(access.Key{}).Attempts(t.Context(), failed[i].Position)
			must(t, err)
			if len(tried) != attempts || strings.Contains(failed[i].LastError, "1234") || !strings.Contains(failed[i].LastError, "decode payload") {
				t.Errorf("final %v: %d attempts, want %d: %s", final, len(tried), attempts, failed[i].LastError)
			}
		}
	}
	for _, id := range []string{"single", "once"} {
		received, err := p.Inbox.Get(t.Context(), inbox.Key{Source: "s", MessageID: id})
		must(t, err)
		if received.Status != inbox.Dead || received.Attempts != attempts || strings.Contains(received.LastError, "1234") {
			t.Errorf("final %v: %v after %d attempts, want %d: %s", final, received.Status, received.Attempts, attempts, received.LastError)
		}
	}
}

// D-400: a message that the old version of a program cannot decode is handled by the new one.
func TestTopicOfTwoVersions(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		before, after := pawl.NewTopic[int]("amount"), pawl.NewTopic[parcel]("amount")
		old := drained(t, d)
		id, err := after.Enqueue(t.Context(), old, parcel{7})
		must(t, err)
		before.Handle(old, func(context.Context, *pawl.Delivery[int]) error { t.Error("decoded"); return nil })
		must(t, old.Run(t.Context()))
		now := drained(t, d)
		number := 0
		after.Handle(now, func(_ context.Context, d *pawl.Delivery[parcel]) error { number = d.Body.Number; return nil })
		info, err := now.Outbox.Get(t.Context(), id)
		must(t, err)
		_, err = now.Outbox.Reschedule(t.Context(), time.Time{}, info.Position)
		must(t, err)
		must(t, now.Run(t.Context()))
		if number != 7 {
			t.Errorf("the new version got %d", number)
		}
	})
}

// D-203: batches have decoded bodies; what cannot be decoded fails alone, and so does everything if
// the results are too few.
func TestTopicInBatches(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		parcels, letters := pawl.NewTopic[parcel]("parcel"), pawl.NewTopic[parcel]("letter")
		p := drained(t, e.Open(t))
		ids, err := parcels.EnqueueBatch(t.Context(), p, []parcel{{Number: 1}, {Number: 2}, {Number: 3}})
		must(t, err)
		bad, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "parcel", Payload: []byte("{")})
		must(t, err)
		few, err := letters.EnqueueBatch(t.Context(), p, []parcel{{Number: 1}, {Number: 2}})
		must(t, err)
		sum := 0
		parcels.HandleBatch(p, func(_ context.Context, batch []*pawl.Delivery[parcel]) []error {
			results := make([]error, len(batch))
			for i, d := range batch {
				sum += d.Body.Number
				if d.Body.Number == 2 {
					results[i] = outbox.Permanent(errors.New("no"))
				}
			}
			return results
		}, outbox.BatchOptions{Max: 4, Wait: time.Second})
		letters.HandleBatch(p, func(context.Context, []*pawl.Delivery[parcel]) []error { return nil },
			outbox.BatchOptions{Max: 2, Wait: time.Minute}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 1}})
		must(t, p.Run(t.Context()))
		if sum != 6 {
			t.Errorf("the bodies add up to %d", sum)
		}
		for id, want := range map[outbox.MessageID]string{ids[0]: "", ids[1]: "no", ids[2]: "", bad: "decode payload", few[0]: "returned 0 results for 2", few[1]: "returned 0 results for 2"} {
			info, err := p.Outbox.Get(t.Context(), id)
			must(t, err)
			if (info.Status == outbox.Done) != (want == "") || !strings.Contains(info.LastError, want) {
				t.Errorf("%v with %q, want %q", info.Status, info.LastError, want)
			}
		}
	})
}

// Handlers of the inbox get bodies, with a transaction or without.
func TestTopicInTheInbox(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		plain, inTx := pawl.NewTopic[parcel]("plain"), pawl.NewTopic[[]byte]("in a transaction")
		p := drained(t, e.Open(t))
		for topic, payload := range map[string]string{plain.Name(): `{"number":4}`, inTx.Name(): "raw"} {
			_, err := p.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "s", MessageID: topic}, Topic: topic, Payload: []byte(payload)})
			must(t, err)
		}
		var number int
		var raw string
		plain.HandleInbox(p, func(_ context.Context, r *pawl.Received[parcel]) error { number = r.Body.Number; return nil })
		inTx.HandleInboxTx(p, func(_ context.Context, tx pawl.Tx, r *pawl.Received[[]byte]) error {
			raw = string(r.Body) + " " + r.Source
			if tx == nil {
				t.Error("no transaction")
			}
			return nil
		})
		must(t, p.Run(t.Context()))
		if number != 4 || raw != "raw s" {
			t.Errorf("%d, %q", number, raw)
		}
	})
}

// sealed stands for a message of protobuf: a pointer with methods.
type sealed struct{ n uint32 }

type sealable interface{ seal() *sealed }

func (s *sealed) seal() *sealed { return s }

// D-27: a codec is the topic's for both directions.
func TestTopicCodecs(t *testing.T) {
	marshal := func(s sealable) ([]byte, error) { return binary.BigEndian.AppendUint32(nil, s.seal().n), nil }
	unmarshal := func(b []byte, s sealable) error {
		if len(b) != 4 {
			return errors.New("not four bytes")
		}
		s.seal().n = binary.BigEndian.Uint32(b)
		return nil
	}
	codec := pawl.CodecOf(marshal, unmarshal)
	pointers := pawl.NewTopic[*sealed]("pointers", pawl.TopicOptions{Codec: codec})
	m, err := pointers.Message(&sealed{258})
	must(t, err)
	if string(m.Payload) != "\x00\x00\x01\x02" {
		t.Errorf("payload %x", m.Payload)
	}
	var got *sealed
	if err := codec.Decode(m.Payload, &got); err != nil || got.n != 258 {
		t.Errorf("%v, %v", got, err)
	}
	var in sealed
	if err := codec.Decode(m.Payload, &in); err != nil || in.n != 258 {
		t.Errorf("%v, %v", in, err)
	}
	if err := codec.Decode([]byte("x"), &got); err == nil {
		t.Error("one byte was decoded")
	}
	strangers := pawl.NewTopic[int]("strangers", pawl.TopicOptions{Codec: codec})
	if _, err := strangers.Message(1); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("a body that does not fit the codec: %v", err)
	}
	library := pawl.CodecOf(json.Marshal, json.Unmarshal)
	m, err = pawl.NewTopic[map[string]int]("library", pawl.TopicOptions{Codec: library}).Message(map[string]int{"n": 1})
	must(t, err)
	var read struct{ N int }
	if err := library.Decode(m.Payload, &read); err != nil || read.N != 1 {
		t.Errorf("%s is %+v, %v", m.Payload, read, err)
	}
	raw := pawl.NewTopic[[]byte]("raw")
	body := []byte("as it is")
	m, err = raw.Message(body)
	must(t, err)
	if body[0] = 'X'; string(m.Payload) != "as it is" {
		t.Errorf("payload %q", m.Payload)
	}
}

// D-27: what is refused says what, and nothing is written.
func TestTopicRefuses(t *testing.T) {
	d := dbtest.OpenSQLite(t)
	p := drained(t, d)
	topic := pawl.NewTopic[parcel]("parcel")
	for what, err := range map[string]error{
		"a topic beside the topic's": p.Jobs.Put(t.Context(), topic.Every("@daily", "", parcel{}, job.Job{Topic: "other"})),
		"a schedule beside the call": p.Jobs.Put(t.Context(), topic.Every("@daily", "", parcel{}, job.Job{Schedule: "@daily"})),
		"a zone beside the call's":   p.Jobs.Put(t.Context(), topic.Every("@daily", "", parcel{}, job.Job{Zone: "UTC"})),
		"two jobs":                   p.Jobs.Put(t.Context(), topic.Every("@daily", "", parcel{}, job.Job{}, job.Job{})),
		"a job without JSON":         errOf(p.Jobs.Sync(t.Context(), "me", []job.Job{pawl.NewTopic[chan int]("c").Every("@daily", "", nil)}, job.SyncOptions{})),
		"a step without JSON":        errOf(p.Joins.FanOut(t.Context(), join.Spec{}, []outbox.Message{pawl.NewTopic[chan int]("c").With(nil)}, join.Wait{})),
		"a follow-up without JSON":   errOf(p.Joins.FanOut(t.Context(), join.Spec{}, []outbox.Message{topic.With(parcel{})}, join.Wait{OnFail: pawl.NewTopic[chan int]("c").With(nil)})),
		"a payload beside the body":  errOf(topic.Schedule(t.Context(), p, timer.Timer{Due: time.Now(), Payload: []byte("x")}, parcel{})),
		"one key for two messages":   errOf(topic.EnqueueBatch(t.Context(), p, []parcel{{1}, {2}}, pawl.EnqueueOptions{UniqueKey: "k"})),
		"one id for two messages":    errOf(topic.EnqueueBatch(t.Context(), p, []parcel{{1}, {2}}, pawl.EnqueueOptions{ID: outbox.MessageID{1}})),
		"a body without JSON":        errOf(pawl.NewTopic[chan int]("c").Enqueue(t.Context(), p, nil)),
		"a pool as transaction":      errOf(topic.EnqueueTx(t.Context(), p, d.SQL, parcel{1})),
	} {
		if !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if c, err := p.Outbox.Count(t.Context()); err != nil || c.Ready != 0 {
		t.Errorf("%d messages, %v", c.Ready, err)
	}
	for _, name := range []string{"", strings.Repeat("x", limits.Topic+1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("no panic for a name of %d characters", len(name))
				}
			}()
			pawl.NewTopic[parcel](name)
		}()
	}
}

func errOf[T any](_ T, err error) error { return err }
