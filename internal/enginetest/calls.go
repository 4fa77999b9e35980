package enginetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/engine"
)

// Queue and Lane are what the migrations make known: queue "default" at
// priority 0.
const (
	Queue = "default"
	Lane  = int64(4828129222919567135)
)

// Lease is long enough never to run out within a test.
const Lease = time.Hour

// Token returns a random owner token or message id.
func Token() (t [16]byte) {
	_, _ = rand.Read(t[:])
	return t
}

// IDs returns n consecutive ids from lo.
func IDs(lo int64, n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = lo + int64(i)
	}
	return ids
}

func fill[T any](n int, v T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// Enqueue asks for new messages with these consecutive ids, as one run.
func Enqueue(ids []int64, payload []byte) *engine.Call {
	if payload == nil {
		payload = []byte{}
	}
	mids := make([][16]byte, len(ids))
	for i := range mids {
		mids[i] = Token()
	}
	return &engine.Call{Op: "outbox/enqueue", Args: []any{
		ids, mids, fill(len(ids), "topic"), []*string(nil), []*string(nil), fill(len(ids), payload), fill(len(ids), Lane), []*time.Time(nil), []string{Queue},
		[]int64{Lane}, []*time.Time{nil}, []int64{ids[0]}, []int64{int64(len(ids))},
	}}
}

// Once is a message of EnqueueOnce.
type Once struct {
	ID, Position int64
	MessageID    [16]byte
	Supplied     bool
}

// EnqueueOnce asks for messages of which some may be there already.
func EnqueueOnce(msgs ...Once) *engine.Call {
	n := len(msgs)
	ids, mids, supplied, positions := make([]int64, n), make([][16]byte, n), make([]bool, n), make([]int64, n)
	for i, m := range msgs {
		ids[i], mids[i], supplied[i], positions[i] = m.ID, m.MessageID, m.Supplied, m.Position
	}
	return &engine.Call{Op: "outbox/enqueue_once", Args: []any{
		ids, mids, fill(n, "topic"), []*string(nil), []*string(nil), fill(n, []byte{}), fill(n, Lane), []*time.Time(nil), []string{Queue},
		supplied, positions,
	}}
}

// Message is a claimed message.
type Message struct {
	ID            int64
	MessageID     [16]byte
	Topic         string
	CorrelationID *string
	Headers       *string
	Payload       []byte
	Created       time.Time
	Due           *time.Time
	Retry         int
	Queue         string
	Priority      int64
	Until         time.Time
}

// Claim asks for n messages and puts them into into.
func Claim(owner [16]byte, lease time.Duration, n int, into *[]Message) *engine.Call {
	return &engine.Call{
		Op:    "outbox/claim",
		Args:  []any{Queue, owner, lease, n},
		Reset: func() { *into = nil },
		Each: func(r engine.Row) error {
			var m Message
			err := r.Scan(&m.ID, &m.MessageID, &m.Topic, &m.CorrelationID, &m.Headers, &m.Payload, &m.Created, &m.Due, &m.Retry, &m.Queue, &m.Priority, &m.Until)
			*into = append(*into, m)
			return err
		},
	}
}

// ClaimAny is Claim for programs that claim themselves: suspects, if there are some.
func ClaimAny(owner [16]byte, lease time.Duration, n int, into *[]Message) *engine.Call {
	c := Claim(owner, lease, n, into)
	c.Op = "outbox/claim_any"
	return c
}

// Span is the ids Lo … Lo+N−1.
type Span struct{ Lo, N int64 }

func spans(owner [16]byte, s []Span) (owners [][16]byte, lo, n []int64) {
	for _, s := range s {
		owners, lo, n = append(owners, owner), append(lo, s.Lo), append(n, s.N)
	}
	return owners, lo, n
}

func settle(op string, owner [16]byte, s []Span, rest ...any) *engine.Call {
	owners, lo, n := spans(owner, s)
	return engine.Count("outbox/"+op, append([]any{owners, lo, n}, rest...)...)
}

// Ack asks to ack spans.
func Ack(owner [16]byte, s ...Span) *engine.Call {
	return settle("ack", owner, s, "tester", []int64{}, []int64{})
}

// Abandon asks to put spans back after a delay, or the default one if nil.
func Abandon(owner [16]byte, delay *time.Duration, reason string, s ...Span) *engine.Call {
	return settle("abandon", owner, s, fill(len(s), delay), fill(len(s), &reason))
}

// Fail asks to fail spans.
func Fail(owner [16]byte, reason string, s ...Span) *engine.Call {
	return settle("fail", owner, s, fill(len(s), &reason), true)
}

// Release asks to put spans back without counting an attempt.
func Release(owner [16]byte, delay time.Duration, s ...Span) *engine.Call {
	return settle("release", owner, s, fill(len(s), delay), fill(len(s), true))
}

// Extend asks to lengthen the lease of spans.
func Extend(owner [16]byte, lease time.Duration, s ...Span) *engine.Call {
	return settle("extend", owner, s, lease)
}

// Reap asks to put back what expired.
func Reap() *engine.Call { return engine.Count("outbox/reap", 1000) }

// Held is a span as somebody knows it who holds it, or did.
type Held struct {
	Owner [16]byte
	Span
}

func holders(h []Held) (owners [][16]byte, lo, n []int64) {
	owners, lo, n = [][16]byte{}, []int64{}, []int64{}
	for _, h := range h {
		owners, lo, n = append(owners, h.Owner), append(lo, h.Lo), append(n, h.N)
	}
	return owners, lo, n
}

// Settle asks to ack and to fail spans under several owners, in the calls of one
// exchange of a worker: failures are counted in joins by the ack that follows.
func Settle(acks, fails []Held) (calls []*engine.Call) {
	owners, failedLo, failedN := holders(fails)
	if len(fails) > 0 {
		reason := "no"
		calls = append(calls, engine.Count("outbox/fail", owners, failedLo, failedN, fill(len(fails), &reason), len(acks) == 0))
	}
	if len(acks) > 0 {
		owners, lo, n := holders(acks)
		calls = append(calls, engine.Count("outbox/ack", owners, lo, n, "tester", failedLo, failedN))
	}
	return calls
}

// Redrive asks to give failed messages a fresh start; ids nil means all.
func Redrive(ids []int64) *engine.Call {
	return Dead("outbox/redrive", ids, nil)
}

// Discard asks to give failed messages up; ids nil means all.
func Discard(ids []int64, topic *string) *engine.Call {
	return Dead("outbox/discard", ids, topic)
}

// Counts is where messages lie.
type Counts struct{ Ready, Scheduled, Claimed, Done, Failed, Discarded int64 }

// Sum is how many messages have a place.
func (c Counts) Sum() int64 {
	return c.Ready + c.Scheduled + c.Claimed + c.Done + c.Failed + c.Discarded
}

// Must fails the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Do runs calls and fails the test if they fail.
func Do(t testing.TB, db engine.DB, calls ...*engine.Call) {
	t.Helper()
	Must(t, db.Do(context.Background(), calls...))
}

// Put enqueues n messages and returns their ids.
func Put(t testing.TB, db engine.DB, n int) []int64 {
	t.Helper()
	lo, err := db.ReserveIDs(context.Background(), nil, n)
	Must(t, err)
	ids := IDs(lo, n)
	Do(t, db, Enqueue(ids, []byte("payload")))
	return ids
}

// Take claims up to n messages and returns their ids in order. A short claim
// is followed by another one: an engine may overlook at first what lay behind
// its mark.
func Take(t testing.TB, db engine.DB, owner [16]byte, n int) []int64 {
	t.Helper()
	var got []Message
	Do(t, db, Claim(owner, Lease, n, &got))
	if len(got) < n {
		var more []Message
		Do(t, db, Claim(owner, Lease, n-len(got), &more))
		got = append(got, more...)
	}
	ids := make([]int64, len(got))
	for i, m := range got {
		ids[i] = m.ID
	}
	slices.Sort(ids)
	return ids
}

// Count returns where messages lie.
func Count(t testing.TB, db engine.DB) (c Counts) {
	t.Helper()
	Must(t, db.Read(context.Background(), &engine.Call{Op: "outbox/counts", Each: func(r engine.Row) error {
		return r.Scan(&c.Ready, &c.Scheduled, &c.Claimed, &c.Done, &c.Failed, &c.Discarded)
	}}))
	return c
}

// Number asks for a single number in raw SQL, in which pawl.name stands for
// one of pawl's tables.
func Number(t testing.TB, p *Place, query string, args ...any) (n int64) {
	t.Helper()
	Must(t, p.SQL.QueryRowContext(context.Background(), p.Names.Render(query), args...).Scan(&n))
	return n
}

// Exec runs raw SQL, see Number.
func Exec(t testing.TB, p *Place, query string, args ...any) {
	t.Helper()
	_, err := p.SQL.ExecContext(context.Background(), p.Names.Render(query), args...)
	Must(t, err)
}

// CheckPlaces fails the test unless every message is in exactly one place: the
// first rule of the layout.
func CheckPlaces(t testing.TB, p *Place) {
	t.Helper()
	ctx := context.Background()
	seen := map[int64]string{}
	for _, place := range []string{"ready", "claim", "done"} {
		rows, err := p.SQL.QueryContext(ctx, p.Names.Render("SELECT lo, n FROM pawl.outbox_"+place))
		Must(t, err)
		each(t, rows, func() (lo, n int64, err error) { err = rows.Scan(&lo, &n); return }, func(id int64) {
			if other, twice := seen[id]; twice {
				t.Errorf("message %d is in %s and in %s", id, other, place)
			}
			seen[id] = place
		})
	}
	rows, err := p.SQL.QueryContext(ctx, p.Names.Render("SELECT id, 1 FROM pawl.outbox_exception WHERE status >= 3"))
	Must(t, err)
	each(t, rows, func() (lo, n int64, err error) { err = rows.Scan(&lo, &n); return }, func(id int64) {
		if other, twice := seen[id]; twice {
			t.Errorf("message %d has failed and is in %s", id, other)
		}
		seen[id] = "failed"
	})
	rows, err = p.SQL.QueryContext(ctx, p.Names.Render("SELECT id, 1 FROM pawl.outbox_message"))
	Must(t, err)
	each(t, rows, func() (lo, n int64, err error) { err = rows.Scan(&lo, &n); return }, func(id int64) {
		if _, somewhere := seen[id]; !somewhere {
			t.Errorf("message %d is nowhere", id)
		}
		delete(seen, id)
	})
	for id, place := range seen {
		t.Errorf("%d is in %s and is no message", id, place)
	}
}

func each(t testing.TB, rows *sql.Rows, scan func() (lo, n int64, err error), do func(id int64)) {
	t.Helper()
	defer rows.Close()
	for rows.Next() {
		lo, n, err := scan()
		Must(t, err)
		for id := lo; id < lo+n; id++ {
			do(id)
		}
	}
	Must(t, rows.Err())
}

// Recorder is a caller's transaction that remembers what it was asked to do.
type Recorder struct {
	Tx      engine.Tx
	Queries []string
}

// ExecContext records and passes on.
func (r *Recorder) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	r.Queries = append(r.Queries, query)
	return r.Tx.ExecContext(ctx, query, args...)
}

// WantClass fails the test unless err is of the class and a *engine.Error.
func WantClass(t testing.TB, err, class error) {
	t.Helper()
	var e *engine.Error
	if !errors.Is(err, class) || !errors.As(err, &e) {
		t.Errorf("want an engine error of class %q, got %T: %v", class, err, err)
	}
}

// Until polls for a condition; it fails the test if that never comes.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func same(a, b []int64) error {
	if !slices.Equal(a, b) {
		return fmt.Errorf("got %v, want %v", a, b)
	}
	return nil
}

// Dead calls an operation that changes the failed messages of ids, or of any if nil.
func Dead(op string, ids []int64, topic *string) *engine.Call {
	none, never := (*string)(nil), (*time.Time)(nil)
	c := &engine.Call{Op: op, Args: []any{ids, topic, none, none, never, never, int64(0), 10_000, int64(1000), Token(), "tester", "test", none}}
	var last *int64
	c.Each = func(r engine.Row) error { return r.Scan(&c.N, &last) }
	return c
}
