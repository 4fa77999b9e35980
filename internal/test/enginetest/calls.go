package enginetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
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

// Enqueue asks for new messages with these consecutive ids, as one run. change, if given, changes the operation.
func Enqueue(ids []int64, payload []byte, change ...func(*op.OutboxEnqueue)) *engine.Call {
	if payload == nil {
		payload = []byte{}
	}
	o := op.OutboxEnqueue{Queues: []string{Queue}, Runs: []op.NewRun{{Lane: Lane, Lo: ids[0], N: len(ids)}}}
	for _, id := range ids {
		o.Messages = append(o.Messages, op.NewMessage{ID: id, MessageID: Token(), Topic: "topic", Payload: payload, Lane: Lane})
	}
	for _, f := range change {
		f(&o)
	}
	return engine.Ask(o)
}

// Once is a message of EnqueueOnce.
type Once struct {
	ID, Position int64
	MessageID    [16]byte
	Supplied     bool
}

// EnqueueOnce asks for messages of which some may be there already.
func EnqueueOnce(msgs ...Once) *engine.Call {
	o := op.OutboxEnqueueOnce{Queues: []string{Queue}}
	for _, m := range msgs {
		o.Messages = append(o.Messages, op.NewMessage{
			ID: m.ID, MessageID: m.MessageID, Topic: "topic", Payload: []byte{}, Lane: Lane, Supplied: m.Supplied, Carried: m.Position,
		})
	}
	return engine.Ask(o)
}

// Lanes asks for the known lanes.
func Lanes() *engine.Call { return engine.Ask(op.OutboxLanes{}) }

// Message is a claimed message.
type Message = op.OutboxClaimed

// Claim asks for n messages and puts them into into.
func Claim(owner [16]byte, lease time.Duration, n int, into *[]Message) *engine.Call {
	return engine.List(op.OutboxClaim{Queue: Queue, Owner: owner, Lease: lease, Most: n}, into)
}

// ClaimAny is Claim for programs that claim themselves: suspects, if there are some.
func ClaimAny(owner [16]byte, lease time.Duration, n int, into *[]Message) *engine.Call {
	return engine.List(op.OutboxClaimAny{Queue: Queue, Owner: owner, Lease: lease, Most: n}, into)
}

// Span is the ids Lo … Lo+N−1.
type Span struct{ Lo, N int64 }

// Held is a span as somebody knows it who holds it, or did.
type Held struct {
	Owner [16]byte
	Span
}

func (h Held) run() op.Held { return op.Held{Owner: h.Owner, Lo: h.Lo, N: int(h.N)} }

// heldBy are spans under one owner.
func heldBy(owner [16]byte, spans []Span) []Held {
	all := make([]Held, len(spans))
	for i, s := range spans {
		all[i] = Held{owner, s}
	}
	return all
}

// runs makes of every span what an operation takes.
func runs[R any](held []Held, f func(op.Held) R) []R {
	all := make([]R, len(held))
	for i, h := range held {
		all[i] = f(h.run())
	}
	return all
}

func itself(h op.Held) op.Held { return h }

// Ack asks to ack spans.
func Ack(owner [16]byte, s ...Span) *engine.Call {
	return engine.Ask(op.OutboxAck{Runs: runs(heldBy(owner, s), itself), Worker: "tester"})
}

// Abandon asks to put spans back after a delay, or the default one if nil.
func Abandon(owner [16]byte, delay *time.Duration, reason string, s ...Span) *engine.Call {
	return engine.Ask(op.OutboxAbandon{Runs: runs(heldBy(owner, s), func(h op.Held) op.Abandoned {
		return op.Abandoned{Held: h, Delay: delay, Reported: op.Reported{Error: &reason}}
	})})
}

func failed(held []Held, reason string, count bool) *engine.Call {
	return engine.Ask(op.OutboxFail{Runs: runs(held, func(h op.Held) op.Failure { return op.Failure{Held: h, Reported: op.Reported{Error: &reason}} }), Count: count})
}

// Fail asks to fail spans.
func Fail(owner [16]byte, reason string, s ...Span) *engine.Call {
	return failed(heldBy(owner, s), reason, true)
}

// Release asks to put spans back without counting an attempt.
func Release(owner [16]byte, delay time.Duration, s ...Span) *engine.Call {
	return engine.Ask(op.OutboxRelease{Runs: runs(heldBy(owner, s), func(h op.Held) op.Released { return op.Released{Held: h, Delay: delay, Unbegun: true} })})
}

// Extend asks to lengthen the lease of spans.
func Extend(owner [16]byte, lease time.Duration, s ...Span) *engine.Call {
	return engine.Ask(op.OutboxExtend{Runs: runs(heldBy(owner, s), itself), Lease: lease})
}

// Reap asks to put back what expired.
func Reap() *engine.Call { return engine.Ask(op.OutboxReap{Most: 1000}) }

// Settle asks to ack and to fail spans under several owners, in the calls of one
// exchange of a worker: failures are counted in joins by the ack that follows.
func Settle(acks, fails []Held) (calls []*engine.Call) {
	if len(fails) > 0 {
		calls = append(calls, failed(fails, "no", len(acks) == 0))
	}
	if len(acks) > 0 {
		spans := runs(fails, func(h op.Held) op.Span { return op.Span{Lo: h.Lo, N: h.N} })
		calls = append(calls, engine.Ask(op.OutboxAck{Runs: runs(acks, itself), Worker: "tester", Failed: spans}))
	}
	return calls
}

// Redrive asks to give failed messages a fresh start; ids nil means all.
func Redrive(ids []int64) *engine.Call {
	f, note := dead(ids, nil)
	return counted(op.OutboxRedrive{DeadFilter: f, Note: note})
}

// Discard asks to give failed messages up; ids nil means all.
func Discard(ids []int64, topic *string) *engine.Call {
	f, note := dead(ids, topic)
	return counted(op.OutboxDiscard{DeadFilter: f, Note: note})
}

// Counts is where messages lie.
type Counts struct{ Ready, Scheduled, Retrying, Claimed, Done, Failed, Discarded, Expired int64 }

// Sum is how many messages have a place.
func (c Counts) Sum() int64 {
	return c.Ready + c.Scheduled + c.Retrying + c.Claimed + c.Done + c.Failed + c.Discarded + c.Expired
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
	sums, _, err := engine.Get(context.Background(), db, op.OutboxCounts{})
	Must(t, err)
	return Counts(sums)
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
	for place, table := range map[string]string{"ready": "outbox_ready", "claim": cmp.Or(p.Claims, "outbox_claim"), "done": "outbox_done"} {
		rows, err := p.SQL.QueryContext(ctx, p.Names.Render("SELECT lo, n FROM pawl."+table))
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

// Until polls for a condition; it fails the test if that never comes. It gives up late: see dbtest.Until.
func Until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited without result: %s", what)
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

// dead selects the failed messages of ids, or any if nil.
func dead(ids []int64, topic *string) (op.DeadFilter, op.Note) {
	id := Token()
	return op.DeadFilter{IDs: ids, Topic: topic, Look: 10_000, Most: 1000}, op.Note{ID: &id, Actor: "tester", Target: "test"}
}

// CountDead asks how many failed messages there are.
func CountDead(topic *string) *engine.Call {
	f, _ := dead(nil, topic)
	return counted(op.OutboxCountDead{DeadFilter: f})
}

// counted asks for an operation on failed messages; N is how many.
func counted(o engine.Answering[op.Dead]) *engine.Call {
	var c *engine.Call
	c = engine.Each(o, func(row *op.Dead, unread error) error { c.N = row.N; return unread })
	return c
}
