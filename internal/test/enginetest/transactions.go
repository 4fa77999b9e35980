package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// shortDelay is a delay of nothing, given on purpose.
const shortDelay = time.Duration(0)

// D-3, OBX-097: calls of one Do stand or fall together.
func atomic(t *testing.T, p *Place) {
	db := Migrated(t, p)
	owner := Token()
	ids := Put(t, db, 3)
	Take(t, db, owner, 3)
	lo, err := db.ReserveIDs(t.Context(), nil, 1)
	Must(t, err)
	err = db.Do(t.Context(), Ack(owner, Span{ids[0], 3}), Enqueue([]int64{lo}, nil), Enqueue([]int64{ids[1]}, nil))
	WantClass(t, err, engine.ErrUnique)
	if c := Count(t, db); c != (Counts{Claimed: 3}) {
		t.Errorf("after a failed transaction: %+v", c)
	}
	var got []Message
	Do(t, db, Ack(owner, Span{ids[0], 3}), Enqueue([]int64{lo}, nil), Claim(Token(), Lease, 10, &got))
	if len(got) != 1 || got[0].ID != lo {
		t.Errorf("a claim after an enqueue in the same transaction got %v", got)
	}
	if c := Count(t, db); c != (Counts{Claimed: 1, Done: 3}) {
		t.Errorf("after a transaction: %+v", c)
	}
}

// D-3: of many calls that share a commit only the wrong ones fail.
func neighbours(t *testing.T, p *Place) {
	db := Migrated(t, p)
	taken := Put(t, db, 1)[0]
	const n = 60
	lo, err := db.ReserveIDs(t.Context(), nil, 2*n)
	Must(t, err)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		good := Enqueue([]int64{lo + 2*int64(i)}, nil)
		calls := []*engine.Call{good}
		if i%3 == 0 {
			calls = append(calls, Enqueue([]int64{taken}, nil)) // takes good back with it
		}
		wg.Go(func() { errs[i] = db.Do(context.Background(), calls...) })
	}
	wg.Wait()
	for i, err := range errs {
		if bad := i%3 == 0; bad != errors.Is(err, engine.ErrUnique) || !bad && err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if c := Count(t, db); c.Ready != 1+n*2/3 {
		t.Errorf("%d messages, want %d", c.Ready, 1+n*2/3)
	}
	CheckPlaces(t, p)
}

// control finds what begins or ends a transaction. BEGIN TRY … END TRY is a block of T-SQL.
var control = regexp.MustCompile(`(?i)\b(begin(\s+(tran|transaction|work|immediate|exclusive|deferred)\b|\s*;|\s*$)|(commit|rollback|savepoint|save\s+tran|start\s+transaction|abort)\b|end\s*;)`)

// D-3, OBX-003, OBX-097: nothing in a caller's transaction but statements: no
// commit, no rollback, no savepoint, no retry.
func onlyStatements(t *testing.T, p *Place) {
	db := Migrated(t, p)
	ctx := t.Context()
	tx, err := p.Pool(db).BeginTx(ctx, nil)
	Must(t, err)
	rec := &Recorder{Tx: tx}
	lo, err := db.ReserveIDs(ctx, rec, 3)
	Must(t, err)
	reserved := len(rec.Queries)
	Must(t, db.DoTx(ctx, rec, Enqueue(IDs(lo, 2), nil)))
	Must(t, db.DoTx(ctx, rec, EnqueueOnce(Once{ID: lo + 2, MessageID: Token(), Supplied: true})))
	Must(t, db.DoTx(ctx, rec, engine.Ask(op.OutboxLane{ID: 7, Queue: "slow", Priority: 5})))
	if len(rec.Queries) == reserved {
		t.Fatal("nothing was recorded")
	}
	before := len(rec.Queries)
	if err := db.DoTx(ctx, rec, Enqueue([]int64{lo}, nil)); !errors.Is(err, engine.ErrUnique) {
		t.Errorf("enqueuing twice: %v", err)
	}
	if len(rec.Queries)-before != 1 {
		t.Errorf("a failing statement was sent %d times", len(rec.Queries)-before)
	}
	for _, q := range rec.Queries {
		if control.MatchString(q) {
			t.Errorf("sent in a caller's transaction: %s", q)
		}
	}
	Must(t, tx.Rollback())
}

// D-3, OBX-002, OBX-003: what was enqueued in a caller's transaction is there
// when that commits, and never was when it is rolled back.
func callerDecides(t *testing.T, p *Place) {
	db := Migrated(t, p)
	ctx := t.Context()
	for _, commit := range []bool{false, true, false, true} {
		before := Count(t, db)
		tx, err := p.Pool(db).BeginTx(ctx, nil)
		Must(t, err)
		lo, err := db.ReserveIDs(ctx, tx, 2)
		Must(t, err)
		call := Enqueue(IDs(lo, 2), nil)
		Must(t, db.DoTx(ctx, tx, call))
		if c := Count(t, db); c != before {
			t.Errorf("uncommitted messages are seen: %+v", c)
		}
		end, added := tx.Rollback, int64(0)
		if commit {
			end, added = tx.Commit, 2
		}
		Must(t, end())
		if c := Count(t, db); c.Ready != before.Ready+added {
			t.Errorf("commit %v: %d messages, want %d", commit, c.Ready, before.Ready+added)
		}
	}
	CheckPlaces(t, p)
}

// D-4: when the context ended before, nothing happens and the error says so.
func cancelledBefore(t *testing.T, p *Place) {
	db := Migrated(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	lo, err := db.ReserveIDs(ctx, nil, 1)
	Must(t, err)
	cancel()
	empty := p.Open(t, Options{Prefix: "none_"})
	var got []Message
	for what, err := range map[string]error{
		"do":      db.Do(ctx, Enqueue([]int64{lo}, nil)),
		"claim":   db.Do(ctx, Claim(Token(), Lease, 1, &got)),
		"read":    db.Read(ctx, Lanes()),
		"migrate": empty.Migrate(ctx),
		"check":   db.CheckSchema(ctx),
	} {
		if !errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrCommitUnknown) {
			t.Errorf("%s: %v", what, err)
		}
	}
	tx, err := p.Pool(db).BeginTx(t.Context(), nil)
	Must(t, err)
	if err := db.DoTx(ctx, tx, Enqueue([]int64{lo}, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("doTx: %v", err)
	}
	_ = tx.Rollback() // pgx closes a connection whose statement was cancelled
	if c := Count(t, db); c.Sum() != 0 {
		t.Errorf("something happened: %+v", c)
	}
	if err := empty.CheckSchema(t.Context()); !errors.Is(err, engine.ErrSchemaMissing) {
		t.Errorf("a cancelled migration: %v", err)
	}
}

// D-3: a key that is taken is an error of its class, within pawl's own
// transactions and a caller's.
func uniqueTaken(t *testing.T, p *Place) {
	db := Migrated(t, p)
	ids := Put(t, db, 1)
	WantClass(t, db.Do(t.Context(), Enqueue(ids, nil)), engine.ErrUnique)
	tx, err := p.Pool(db).BeginTx(t.Context(), nil)
	Must(t, err)
	WantClass(t, db.DoTx(t.Context(), tx, Enqueue(ids, nil)), engine.ErrUnique)
	Must(t, tx.Rollback())
}

// OBX-109, D-100: a missing table is told apart from other failures.
func schemaMissing(t *testing.T, p *Place) {
	db := Migrated(t, p)
	other := p.Open(t, Options{Prefix: "gone_"})
	WantClass(t, other.Do(t.Context(), Enqueue([]int64{1}, nil)), engine.ErrSchemaMissing)
	WantClass(t, other.Do(t.Context(), Reap()), engine.ErrSchemaMissing)
	tx, err := p.Pool(db).BeginTx(t.Context(), nil)
	Must(t, err)
	WantClass(t, other.DoTx(t.Context(), tx, Enqueue([]int64{1}, nil)), engine.ErrSchemaMissing)
	Must(t, tx.Rollback())
}

// OutboxNothing is an operation that no engine has.
type OutboxNothing struct{ engine.Changes }

// D-3: an operation that no engine answers is an error wherever it is asked for.
func unknownOperation(t *testing.T, p *Place) {
	db := Migrated(t, p)
	call := engine.Ask(OutboxNothing{})
	tx, err := p.Pool(db).BeginTx(t.Context(), nil)
	Must(t, err)
	defer tx.Rollback()
	for what, err := range map[string]error{"read": db.Read(t.Context(), call), "doTx": db.DoTx(t.Context(), tx, call)} {
		if err == nil || !strings.Contains(err.Error(), "outbox/nothing") {
			t.Errorf("%s: %v", what, err)
		}
	}
	Must(t, tx.Rollback())
	if err := db.Do(t.Context(), call); err == nil || !strings.Contains(err.Error(), "outbox/nothing") {
		t.Errorf("do: %v", err)
	}
}

const canary = "kanarienvogel"

// D-5: no error, of whatever class, holds a payload, a header or a topic.
func noArguments(t *testing.T, p *Place) {
	db := Migrated(t, p)
	ctx := t.Context()
	lo := Put(t, db, 1)[0]
	secret := func(id int64, text string) *engine.Call {
		return Enqueue([]int64{id}, []byte(text), func(o *op.OutboxEnqueue) { o.Messages[0].Topic, o.Messages[0].Headers = text, &text })
	}
	empty := p.Open(t, Options{Prefix: "gone_"})
	done, cancel := context.WithCancel(ctx)
	cancel()
	broken := engine.Ask(op.PausePut{Kind: canary, Name: canary}) // there are queues and topics
	tx, err := p.Pool(db).BeginTx(ctx, nil)
	Must(t, err)
	defer tx.Rollback()
	errs := map[string]error{
		"unique tx":  db.DoTx(ctx, tx, secret(lo, canary)),
		"aborted tx": db.DoTx(ctx, tx, broken),
	}
	Must(t, tx.Rollback())
	errs["ended tx"] = db.DoTx(ctx, tx, secret(lo, canary))
	errs["unique"] = db.Do(ctx, secret(lo, canary))
	errs["missing"] = empty.Do(ctx, secret(lo, canary))
	errs["cancelled"] = db.Do(done, secret(lo, canary))
	errs["refused"] = db.Do(ctx, broken)
	errs["each"] = db.Read(ctx, &engine.Call{Operation: op.OutboxLanes{}, Each: func(r engine.Row) error { return r.Scan(new(int64)) }})
	for what, err := range errs {
		if err == nil {
			t.Errorf("%s: no error", what)
		} else if strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !errors.Is(errs["ended tx"], sql.ErrTxDone) {
		t.Errorf("an ended transaction: %v", errs["ended tx"])
	}
}

// D-3: a call that is repeated discards the rows of its last attempt, also when
// there is nothing to do.
func forgetful(t *testing.T, p *Place) {
	db := Migrated(t, p)
	ids := Put(t, db, 2)
	var got []Message
	claim := Claim(Token(), time.Microsecond, 10, &got)
	Do(t, db, claim)
	if len(got) != 2 {
		t.Fatalf("claimed %d of 2", len(got))
	}
	Do(t, db, claim)
	if len(got) != 0 {
		t.Errorf("an empty claim left %d messages of the last one", len(got))
	}
	reap := Reap()
	Until(t, "the lease runs out", func() bool { Do(t, db, reap); return reap.N > 0 })
	Do(t, db, reap)
	if reap.N != 0 {
		t.Errorf("an empty reap counts %d, as the last one did", reap.N)
	}
	ack := Ack(Token(), Span{ids[0], 2})
	ack.N = 7
	Do(t, db, ack)
	if ack.N != 0 {
		t.Errorf("an ack of nothing counts %d", ack.N)
	}
}
