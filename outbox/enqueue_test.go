package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// OBX-001, OBX-002
func TestEnqueueStandalone(t *testing.T) { dbtest.Each(t, testEnqueueStandalone) }

func testEnqueueStandalone(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Payload: []byte("p")})
	if err != nil {
		t.Fatal(err)
	}
	other := parts.NewOutbox(f.db.Another(t), worker.Options{}) // committed: another connection sees it
	info, err := other.Get(f.ctx(), id)
	if err != nil || string(info.Payload) != "p" {
		t.Fatalf("not durable: %v", err)
	}
}

// OBX-003, D-3
func TestEnqueueInTransaction(t *testing.T) { dbtest.Each(t, testEnqueueInTransaction) }

func testEnqueueInTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, commit := range []bool{false, true} {
		tx := f.begin()
		id, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.Get(f.ctx(), id); commit != (err == nil) {
			t.Fatalf("commit %v, but finding the message says %v", commit, err)
		}
	}
	f.claimExactly(1)
}

// OBX-003
func TestEnqueueOnConnection(t *testing.T) { dbtest.Each(t, testEnqueueOnConnection) }

func testEnqueueOnConnection(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	conn, err := f.db.SQL.Conn(f.ctx())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{"BEGIN TRANSACTION", "", "COMMIT"} {
		if statement == "" {
			_, err = f.EnqueueTx(f.ctx(), conn, outbox.Message{Topic: "t"})
		} else {
			_, err = conn.ExecContext(f.ctx(), statement)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f.claimExactly(1)
}

// OBX-003, OBX-097, D-3
func TestEnqueueLeavesTransactionAlone(t *testing.T) {
	dbtest.Each(t, testEnqueueLeavesTransactionAlone)
}

func testEnqueueLeavesTransactionAlone(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tx := f.begin()
	if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: strings.Repeat("x", 256)}); !errors.Is(err, engine.ErrInvalid) {
		t.Fatalf("want ErrInvalid, got %v", err)
	}
	if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "t"}); err != nil {
		t.Fatalf("a refused message broke the caller's transaction: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	f.counts(outbox.Counts{Ready: 1})
}

func TestEnqueueBatch(t *testing.T) { dbtest.Each(t, testEnqueueBatch) }

func testEnqueueBatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	items := f.enqueueN(250)
	_, msgs := f.claimExactly(250)
	for i, m := range msgs {
		if m.Position != items[i] {
			t.Fatalf("message %d was claimed out of order", i)
		}
	}
	if ids, err := f.EnqueueBatch(f.ctx(), nil); err != nil || ids != nil {
		t.Fatalf("an empty batch is nothing, got %v, %v", ids, err)
	}
}

// Ids come back in the order of the messages, whatever runs they form.
func TestEnqueueMixedBatch(t *testing.T) { dbtest.Each(t, testEnqueueMixedBatch) }

func testEnqueueMixedBatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	later := time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC()
	var msgs []outbox.Message
	for i := range 60 {
		m := outbox.Message{Topic: "t", Payload: []byte{byte(i)}, Queue: []string{"", "other"}[i%2], Priority: i % 3}
		if i%5 == 0 {
			m.Due = later
		}
		msgs = append(msgs, m)
	}
	ids, err := f.EnqueueBatch(f.ctx(), msgs)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		got := f.find(id)
		if got.Payload[0] != byte(i) || got.Priority != i%3 || got.Queue != []string{"default", "other"}[i%2] || !got.Due.Equal(msgs[i].Due) {
			t.Fatalf("message %d came back as %+v", i, got.Message)
		}
	}
	f.counts(outbox.Counts{Ready: 48, Scheduled: 12})
}

func TestEnqueueLargeBatch(t *testing.T) { dbtest.Each(t, testEnqueueLargeBatch) }

func testEnqueueLargeBatch(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if _, err := f.EnqueueBatch(f.ctx(), make3(2500)); err != nil {
		t.Fatal(err)
	}
	tx := f.begin()
	if _, err := f.EnqueueBatchTx(f.ctx(), tx, make3(5000)); err != nil { // more than a block of ids
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	f.counts(outbox.Counts{Ready: 7500})
}

func make3(n int) []outbox.Message {
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i].Topic = "t"
	}
	return msgs
}

// OBX-097
func TestEnqueueBatchAllOrNone(t *testing.T) { dbtest.Each(t, testEnqueueBatchAllOrNone) }

func testEnqueueBatchAllOrNone(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	msgs := make3(1500)
	msgs[1400].Topic = ""
	_, err := f.EnqueueBatch(f.ctx(), msgs)
	f.refused("topic")(nil, err)
}

// OBX-004, OBX-007, OBX-009, OBX-114, D-2
func TestEnqueueBadInput(t *testing.T) { dbtest.Each(t, testEnqueueBadInput) }

func testEnqueueBadInput(t *testing.T, e dbtest.Engine) {
	f := open(t, e, worker.Options{MaxPayload: 1000})
	long := strings.Repeat("é", 256)
	for field, messages := range map[string][]outbox.Message{
		"topic":          {{}, {Topic: " \t"}, {Topic: long}, {Topic: "a\x00b"}, {Topic: "\xff"}},
		"correlation id": {{Topic: "t", CorrelationID: long}, {Topic: "t", CorrelationID: "\x00"}},
		"queue":          {{Topic: "t", Queue: "  "}, {Topic: "t", Queue: long}},
		"payload":        {{Topic: "t", Payload: make([]byte, 1001)}},
		"priority":       {{Topic: "t", Priority: 101}, {Topic: "t", Priority: -101}},
		"due time":       {{Topic: "t", Due: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, {Topic: "t", Due: time.Unix(math.MaxInt64, 0)}},
		"header name":    {{Topic: "t", Headers: map[string]string{"": "x"}}},
		"header value":   {{Topic: "t", Headers: map[string]string{"x": "\xff"}}},
		"headers":        {{Topic: "t", Headers: map[string]string{"x": strings.Repeat("x", limits.HeaderBytes)}}},
	} {
		for _, m := range messages {
			_, err := f.Enqueue(f.ctx(), m)
			f.refused(field)(nil, err)
		}
	}
	var limit *engine.InvalidError
	if _, err := f.Enqueue(f.ctx(), outbox.Message{Topic: long}); !errors.As(err, &limit) || limit.Limit() != 255 {
		t.Fatalf("the error does not say the limit: %v", err)
	}
	if _, err := f.EnqueueTx(f.ctx(), nil, outbox.Message{Topic: "t"}); !errors.Is(err, engine.ErrInvalid) {
		t.Fatalf("want an error for a nil transaction, got %v", err)
	}
}

// OBX-007, OBX-009, D-2
func TestEnqueueLimitsCountCharacters(t *testing.T) { dbtest.Each(t, testEnqueueLimitsCountCharacters) }

func testEnqueueLimitsCountCharacters(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	text := strings.Repeat("é", 255)
	id := f.enqueue(outbox.Message{Topic: text, CorrelationID: text, Queue: text})
	if got := f.get(id); got.Topic != text || got.CorrelationID != text || got.Queue != text {
		t.Fatal("255 characters of two bytes did not survive")
	}
}

// OBX-011, D-27
func TestEnqueueKeepsEveryField(t *testing.T) { dbtest.Each(t, testEnqueueKeepsEveryField) }

func testEnqueueKeepsEveryField(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, payload := range [][]byte{[]byte(`{"a":1}`), {0, 255, 254}, []byte("nul\x00nul"), []byte("日本語"), bytes.Repeat([]byte("x"), 1<<20)} {
		want := outbox.Message{
			Topic: "Order.Created", Payload: payload, CorrelationID: "c-1", Headers: map[string]string{"traceparent": "00-ab", "ü": "\n"},
			Due: time.Now().Add(-time.Hour).Truncate(time.Microsecond).UTC(), Queue: "q", Priority: -7,
		}
		if _, err := f.Enqueue(f.ctx(), want); err != nil {
			t.Fatal(err)
		}
		owner := outbox.NewOwnerToken()
		msgs, err := f.WorkQueue("q").Claim(f.ctx(), owner, lease, 1)
		if err != nil || len(msgs) != 1 {
			t.Fatalf("claimed %d: %v", len(msgs), err)
		}
		got := *msgs[0]
		if got.Topic != want.Topic || !bytes.Equal(got.Payload, payload) || got.CorrelationID != "c-1" || !maps.Equal(got.Headers, want.Headers) ||
			!got.Due.Equal(want.Due) || got.Queue != "q" || got.Priority != -7 {
			t.Fatalf("came back as %+v", got)
		}
	}
}

// OBX-005, OBX-006, OBX-008
func TestEnqueueEmptyFields(t *testing.T) { dbtest.Each(t, testEnqueueEmptyFields) }

func testEnqueueEmptyFields(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, payload := range [][]byte{nil, {}} {
		id := f.enqueue(outbox.Message{Topic: "t", Payload: payload, CorrelationID: ""})
		if got := f.get(id); len(got.Payload) != 0 || got.CorrelationID != "" || got.Headers != nil || !got.Due.IsZero() {
			t.Fatalf("came back as %+v", got.Message)
		}
	}
	var none int
	f.row("SELECT count(*) FROM "+f.db.Table("outbox")+" WHERE correlation_id IS NULL AND headers IS NULL AND due_time_utc IS NULL", &none)
	if none != 2 {
		t.Fatalf("empty fields are not stored as null in %d of 2 messages", 2-none)
	}
}

// OBX-010
func TestTopicsAreCaseSensitive(t *testing.T) { dbtest.Each(t, testTopicsAreCaseSensitive) }

func testTopicsAreCaseSensitive(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueue(outbox.Message{Topic: "Order.Created"})
	f.enqueue(outbox.Message{Topic: "order.created"})
	found, err := engine.Collect(f.List(f.ctx(), outbox.ListOptions{Topic: "order.created"}), 100)
	if err != nil || len(found) != 1 {
		t.Fatalf("found %d messages: %v", len(found), err)
	}
}

// OBX-012, OBX-013, OBX-018, D-11
func TestEnqueueDue(t *testing.T) { dbtest.Each(t, testEnqueueDue) }

func testEnqueueDue(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const wait = 5 * time.Second // longer than a busy machine takes for what comes before
	now := f.get(f.enqueue(outbox.Message{})).CreatedAt
	f.enqueue(outbox.Message{Due: now.Add(-time.Hour)})
	future := f.enqueue(outbox.Message{Due: now.Add(wait)})
	if _, due := f.claim(10); len(due) != 2 { // room for one more, which must not be taken
		t.Fatalf("claimed %d messages, want the two that are due", len(due))
	}
	f.claimExactly(0)
	f.status(future, outbox.Ready)
	f.counts(outbox.Counts{InProgress: 2, Scheduled: 1})
	f.db.Pass(wait + time.Millisecond)
	f.claimExactly(1)
}

// D-21: messages that were enqueued, or redriven, in one call come in their order,
// with ids of their own as well, whatever plan the server makes for many of them.
func TestEnqueueBatchOrder(t *testing.T) { dbtest.Each(t, testEnqueueBatchOrder) }

func testEnqueueBatchOrder(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n = 300
	msgs := make([]outbox.Message, n)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: "t", ID: outbox.MessageID(uuid.New())}
	}
	want, err := f.EnqueueBatch(f.ctx(), msgs)
	if err != nil {
		t.Fatal(err)
	}
	inOrder := func(what string) []outbox.Position {
		t.Helper()
		var got []*outbox.Message
		for len(got) < n {
			owner, some := f.claim(70)
			if len(some) == 0 {
				t.Fatalf("%s: claimed %d of %d", what, len(got), n)
			}
			got = append(got, some...)
			f.touched(int64(len(some)))(f.WorkQueue("").Fail(f.ctx(), owner, nil, positions(some)...))
		}
		for i, m := range got {
			if m.ID != want[i] {
				t.Fatalf("%s: message %d of the claims is number %d", what, i, slices.Index(want, m.ID))
			}
		}
		return positions(got)
	}
	ids := inOrder("enqueued")
	slices.Reverse(ids)
	f.touched(n)(f.Redrive(f.ctx(), outbox.FailedFilter{IDs: ids}))
	inOrder("redriven")
}

// beforeThe70s are due times that mean now: the zero dates of other systems, and
// what microseconds or durations cannot count.
func beforeThe70s() []time.Time {
	return []time.Time{
		time.Unix(0, -1), time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(-9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-300_000, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// OBX-013, D-8: a due time before 1970 is none: its message is claimable at once,
// behind what came before it and before what comes after, by every way in.
func TestEnqueueDueBefore1970(t *testing.T) { dbtest.Each(t, testEnqueueDueBefore1970) }

func testEnqueueDueBefore1970(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var want []outbox.MessageID
	add := func(ids []outbox.MessageID, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, ids...)
		f.db.Pass(time.Millisecond)
	}
	add(f.EnqueueBatch(f.ctx(), make3(1)))
	for i, due := range beforeThe70s() {
		m := outbox.Message{Topic: "t", Due: due}
		add(f.EnqueueBatch(f.ctx(), []outbox.Message{m, {Topic: "t"}, m}))
		m.ID = outbox.MessageID{byte(i + 1), 15: 1}
		add(f.EnqueueBatch(f.ctx(), []outbox.Message{m}))
		m.ID = outbox.MessageID{}
		tx := f.begin()
		ids, err := f.EnqueueBatchTx(f.ctx(), tx, []outbox.Message{m})
		if err == nil {
			err = tx.Commit()
		}
		add(ids, err)
	}
	f.counts(outbox.Counts{Ready: int64(len(want))})
	_, got := f.claimExactly(len(want))
	for i, m := range got {
		if m.ID != want[i] || !m.Due.IsZero() {
			t.Errorf("message %d of the claim is %v, due %v; want %v", i, m.ID, m.Due, want[i])
		}
	}
	f.claimExactly(0)
}

// OBX-014, D-10
func TestEnqueueIDs(t *testing.T) { dbtest.Each(t, testEnqueueIDs) }

func testEnqueueIDs(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	seen := map[outbox.MessageID]bool{}
	places := map[outbox.Position]bool{}
	for range 3 {
		ids, err := f.EnqueueBatch(f.ctx(), make3(100))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			info := f.find(id)
			if seen[id] || places[info.Position] || info.ID != id {
				t.Fatalf("id %v or position %d is not unique", id, info.Position)
			}
			seen[id], places[info.Position] = true, true
		}
	}
}

// OBX-015, D-1
func TestEnqueueCreatedAt(t *testing.T) { dbtest.Each(t, testEnqueueCreatedAt) }

func testEnqueueCreatedAt(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	first := f.get(f.enqueue(outbox.Message{})).CreatedAt
	f.db.Pass(50 * time.Millisecond)
	second := f.get(f.enqueue(outbox.Message{})).CreatedAt
	if second.Sub(first) < 50*time.Millisecond || first.Location() != time.UTC {
		t.Fatalf("created at %v and %v: not the database's clock in UTC", first, second)
	}
}

// OBX-016
func TestEnqueueInitialState(t *testing.T) { dbtest.Each(t, testEnqueueInitialState) }

func testEnqueueInitialState(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	got := f.status(f.enqueue(outbox.Message{}), outbox.Ready)
	if got.RetryCount != 0 || got.Status == outbox.Done || !got.LockedUntil.IsZero() || got.Owner != (outbox.OwnerToken{}) || got.LastError != "" || !got.ProcessedAt.IsZero() {
		t.Fatalf("a new message is %+v", got)
	}
}

// D-10
func TestEnqueueSuppliedID(t *testing.T) { dbtest.Each(t, testEnqueueSuppliedID) }

func testEnqueueSuppliedID(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id := outbox.MessageID{0xab, 1, 2}
	enqueue := func(topic string) {
		t.Helper()
		got, err := f.Enqueue(f.ctx(), outbox.Message{ID: id, Topic: topic})
		if err != nil || got != id {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	enqueue("first")
	enqueue("second")
	if ids, err := f.EnqueueBatch(f.ctx(), []outbox.Message{{ID: id, Topic: "third"}, {Topic: "new"}, {ID: id, Topic: "fourth"}}); err != nil || ids[0] != id || ids[2] != id {
		t.Fatal(ids, err)
	}
	f.counts(outbox.Counts{Ready: 2})
	if got := f.find(id); got.Topic != "first" {
		t.Fatalf("the first enqueue did not win: %q", got.Topic)
	}
	owner, msgs := f.claimExactly(2)
	f.touched(2)(f.WorkQueue("").Ack(f.ctx(), owner, positions(msgs)...))
	enqueue("after it was handled")
	f.counts(outbox.Counts{Done: 2})
}

// D-10: the second transaction waits for the first and respects its outcome.
func TestEnqueueSuppliedIDConcurrently(t *testing.T) {
	dbtest.Each(t, testEnqueueSuppliedIDConcurrently)
}

func testEnqueueSuppliedIDConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, commit := range []bool{true, false} {
		id := outbox.MessageID{0xcd, byte(len(t.Name())), map[bool]byte{true: 1}[commit]}
		tx := f.begin()
		if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{ID: id, Topic: "in tx"}); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := f.Enqueue(f.ctx(), outbox.Message{ID: id, Topic: "alone"})
			done <- err
		}()
		if commit {
			_ = tx.Commit()
		} else {
			_ = tx.Rollback()
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "in tx", false: "alone"}[commit]
		if got := f.find(id); got.Topic != want && commit {
			t.Fatalf("commit %v: the message is %q", commit, got.Topic)
		}
	}
	f.counts(outbox.Counts{Ready: 2})
}

// D-4: repeating an enqueue with the id it returned adds nothing, from this
// outbox and from another one.
func TestEnqueueMadeIDAgain(t *testing.T) { dbtest.Each(t, testEnqueueMadeIDAgain) }

func testEnqueueMadeIDAgain(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []*parts.Outbox{f.Outbox, parts.NewOutbox(f.db.Another(t), worker.Options{})} {
		if again, err := o.Enqueue(f.ctx(), outbox.Message{ID: id, Topic: "t"}); err != nil || again != id {
			t.Fatal(again, err)
		}
	}
	f.counts(outbox.Counts{Ready: 1})

	tx := f.begin()
	lost, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	_ = tx.Rollback()
	if again, err := f.Enqueue(f.ctx(), outbox.Message{ID: lost, Topic: "t"}); err != nil || again != lost {
		t.Fatal(again, err)
	}
	f.find(lost)
	f.counts(outbox.Counts{Ready: 2})
}

// D-10: an id that looks like one of ours but was made elsewhere is a supplied one.
func TestEnqueueForeignMadeID(t *testing.T) { dbtest.Each(t, testEnqueueForeignMadeID) }

func testEnqueueForeignMadeID(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.enqueueN(20)
	elsewhere := open(t, e)
	for range 20 {
		id, err := elsewhere.Enqueue(f.ctx(), outbox.Message{Topic: "t"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := f.Enqueue(f.ctx(), outbox.Message{ID: id, Topic: "foreign"}); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.find(id); got.Topic != "foreign" {
			t.Fatalf("found another message at its position: %+v", got.Message)
		}
	}
	f.counts(outbox.Counts{Ready: 40})
}

// D-4
func TestEnqueueCancelledBefore(t *testing.T) { dbtest.Each(t, testEnqueueCancelledBefore) }

func testEnqueueCancelledBefore(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ctx, cancel := context.WithCancel(f.ctx())
	cancel()
	if _, err := f.Enqueue(ctx, outbox.Message{Topic: "t"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("want context.Canceled, got %v", err)
	}
	f.counts(outbox.Counts{})
}

// OBX-100
func TestEnqueueConcurrently(t *testing.T) { dbtest.Each(t, testEnqueueConcurrently) }

func testEnqueueConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var wg sync.WaitGroup
	ids := make(chan outbox.MessageID, 32*20)
	for range 32 {
		wg.Go(func() {
			for range 20 {
				id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t"})
				if err != nil {
					t.Error(err)
				}
				ids <- id
			}
		})
	}
	wg.Wait()
	close(ids)
	for id := range ids {
		f.find(id)
	}
	f.counts(outbox.Counts{Ready: 640})
}

// A queue first named in a transaction that is rolled back is named anew.
func TestEnqueueNewQueueInRolledBackTransaction(t *testing.T) {
	dbtest.Each(t, testEnqueueNewQueueInRolledBackTransaction)
}

func testEnqueueNewQueueInRolledBackTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for range 3 {
		tx := f.begin()
		if _, err := f.EnqueueTx(f.ctx(), tx, outbox.Message{Topic: "t", Queue: "new"}); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	f.enqueue(outbox.Message{Queue: "new"})
	msgs, err := f.WorkQueue("new").Claim(f.ctx(), outbox.NewOwnerToken(), lease, 10)
	if err != nil || len(msgs) != 1 {
		t.Fatalf("claimed %d: %v", len(msgs), err)
	}
}

// OBX-001, OBX-097: programs that are the first to name a queue, at the same
// moment, do not get in each other's way.
func TestEnqueueNewQueuesConcurrently(t *testing.T) { dbtest.Each(t, testEnqueueNewQueuesConcurrently) }

func testEnqueueNewQueuesConcurrently(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	boxes := []*parts.Outbox{f.Outbox, parts.NewOutbox(f.db.DB, worker.Options{}), parts.NewOutbox(f.db.Another(t), worker.Options{}), parts.NewOutbox(f.db.Another(t), worker.Options{})}
	for n := range 25 {
		var all sync.WaitGroup
		for _, o := range boxes {
			all.Go(func() {
				if _, err := o.Enqueue(f.ctx(), outbox.Message{Topic: "t", Queue: fmt.Sprintf("new-%d", n)}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	f.counts(outbox.Counts{Ready: 100})
}
