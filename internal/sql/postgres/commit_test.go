package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// behindProxy is a migrated place whose other handle goes through a proxy.
func behindProxy(t *testing.T, o postgres.Options) (*enginetest.Place, *proxytest.Proxy, *postgres.DB) {
	t.Helper()
	p := place()(t)
	enginetest.Migrated(t, p)
	proxy := proxytest.New(t, testpg.URL(t))
	o.Schema = p.Names.Schema
	return p, proxy, open(t, with(proxy.URL(testpg.URL(t)), "pool_max_conns=4"), o)
}

// countInserts counts statements that insert messages, also those that a
// rollback takes back: a sequence knows no rollback.
func countInserts(t *testing.T, p *enginetest.Place) (inserts func() int64) {
	t.Helper()
	enginetest.Exec(t, p, `CREATE SEQUENCE pawl.inserts`)
	enginetest.Exec(t, p, `CREATE FUNCTION pawl.count_insert() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM nextval('pawl.inserts'); RETURN NULL; END $f$`)
	enginetest.Exec(t, p, `CREATE TRIGGER count_insert BEFORE INSERT ON pawl.outbox_message FOR EACH STATEMENT EXECUTE FUNCTION pawl.count_insert()`)
	return func() int64 {
		return enginetest.Number(t, p, `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM pawl.inserts`)
	}
}

func messages(t *testing.T, p *enginetest.Place) int64 {
	t.Helper()
	return enginetest.Number(t, p, `SELECT count(*) FROM pawl.outbox_message`)
}

// D-4: a connection that is cut after the commit and before its answer leaves
// an unknown outcome, and nothing is sent a second time.
func TestDoWhoseAnswerIsCutIsUnknownAndRanOnce(t *testing.T) {
	p, proxy, db := behindProxy(t, postgres.Options{})
	inserts := countInserts(t, p)
	ids, err := db.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	for i := range 3 { // a fresh connection and one whose statements are prepared
		enginetest.Do(t, db, enginetest.Enqueue([]int64{ids + 10 + int64(i)}, nil))
	}
	before := inserts()
	proxy.CutAfter("INSERT")
	err = db.Do(t.Context(), enginetest.Enqueue([]int64{ids}, []byte("x")))
	enginetest.WantClass(t, err, engine.ErrCommitUnknown)
	if proxy.Cuts() != 1 {
		t.Fatalf("the proxy cut %d connections", proxy.Cuts())
	}
	if n := messages(t, p); n != 4 {
		t.Errorf("%d messages, want 4", n)
	}
	if n := inserts() - before; n != 1 {
		t.Errorf("the insert ran %d times", n)
	}
	enginetest.Do(t, db, enginetest.Enqueue([]int64{ids + 1}, nil)) // and the pool recovers
}

// D-4: a settlement and a claim whose answer is cut are unknown as well.
func TestAckWhoseAnswerIsCutIsUnknown(t *testing.T) {
	p, proxy, db := behindProxy(t, postgres.Options{})
	owner := enginetest.Token()
	ids := enginetest.Put(t, db, 2)
	enginetest.Take(t, db, owner, 2)
	proxy.CutAfter("SELECT")
	ack := enginetest.Ack(owner, enginetest.Span{Lo: ids[0], N: 2})
	enginetest.WantClass(t, db.Do(t.Context(), ack), engine.ErrCommitUnknown)
	enginetest.Do(t, db, ack)
	if c := enginetest.Count(t, db); c.Done != 2 || ack.N != 0 {
		t.Errorf("after acking again: %+v, touched %d", c, ack.N)
	}
	enginetest.CheckPlaces(t, p)
}

// D-4: a read that is cut changed nothing, so its connection is simply lost.
func TestReadWhoseAnswerIsCutIsAConnectionLost(t *testing.T) {
	_, proxy, db := behindProxy(t, postgres.Options{})
	proxy.CutAfter("SELECT")
	err := db.Read(t.Context(), enginetest.Lanes())
	enginetest.WantClass(t, err, engine.ErrConnLost)
	if errors.Is(err, engine.ErrCommitUnknown) {
		t.Errorf("a read has no commit: %v", err)
	}
}

// D-4, D-10: enqueuing again with the id of an enqueue whose outcome is unknown
// adds nothing, from the same process, from another one, and with ids that the
// caller supplied.
func TestEnqueueAgainAfterAnUnknownCommitAddsNothing(t *testing.T) {
	for name, supplied := range map[string]outbox.MessageID{"made": {}, "supplied": enginetest.Token()} {
		t.Run(name, func(t *testing.T) {
			p, proxy, db := behindProxy(t, postgres.Options{})
			o := parts.NewOutbox(db, worker.Options{})
			_, err := o.Enqueue(t.Context(), outbox.Message{Topic: "t"}) // now it has ids, and nothing else to ask
			enginetest.Must(t, err)
			proxy.CutAfter(map[bool]string{false: "SELECT", true: "INSERT"}[supplied.IsZero()])
			id, err := o.Enqueue(t.Context(), outbox.Message{Topic: "t", ID: supplied})
			if !errors.Is(err, engine.ErrCommitUnknown) || id.IsZero() {
				t.Fatalf("id %v, error %v", id, err)
			}
			elsewhere := parts.NewOutbox(open(t, testpg.URL(t), postgres.Options{Schema: p.Names.Schema}), worker.Options{})
			for _, again := range []*parts.Outbox{o, elsewhere, o} {
				same, err := again.Enqueue(t.Context(), outbox.Message{Topic: "t", ID: id})
				if err != nil || same != id {
					t.Errorf("again: id %v, error %v", same, err)
				}
			}
			if n := messages(t, p); n != 2 {
				t.Errorf("%d messages, want 2", n)
			}
			if found, err := elsewhere.Get(t.Context(), id); err != nil || found.ID != id {
				t.Errorf("found %v, error %v", found, err)
			}
			enginetest.CheckPlaces(t, p)
		})
	}
}

// D-4: the same where the program commits, through database/sql.
func TestEnqueueTxAgainAfterACutCommitAddsNothing(t *testing.T) {
	p, proxy, db := behindProxy(t, postgres.Options{})
	inserts := countInserts(t, p)
	o := parts.NewOutbox(db, worker.Options{})
	pool, err := sql.Open("pgx", proxy.URL(testpg.URL(t)))
	enginetest.Must(t, err)
	defer pool.Close()
	tx, err := pool.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	id, err := o.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t"})
	enginetest.Must(t, err)
	proxy.CutAfter("COMMIT")
	if err := tx.Commit(); err == nil {
		t.Fatal("the commit's answer was not cut")
	}
	if n := messages(t, p); n != 1 || inserts() != 1 {
		t.Fatalf("%d messages by %d inserts, want one", n, inserts())
	}
	tx, err = pool.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	same, err := o.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t", ID: id})
	enginetest.Must(t, err)
	enginetest.Must(t, tx.Commit())
	if n := messages(t, p); n != 1 || same != id {
		t.Errorf("%d messages, id %v", n, same)
	}
}

// D-4: an id whose first enqueue was rolled back is still to be had, and so is
// one whose first enqueue is still under way when it is tried again.
func TestEnqueueAgainWaitsForTheFirstAttempt(t *testing.T) {
	for _, commit := range []bool{true, false} {
		p := place()(t)
		db := enginetest.Migrated(t, p)
		o := parts.NewOutbox(db, worker.Options{})
		tx, err := p.Pool(db).BeginTx(t.Context(), nil)
		enginetest.Must(t, err)
		id, err := o.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t"})
		enginetest.Must(t, err)
		again := make(chan error, 1)
		go func() {
			_, err := o.Enqueue(context.Background(), outbox.Message{Topic: "t", ID: id})
			again <- err
		}()
		waitForLock(t, p, 1)
		if commit {
			enginetest.Must(t, tx.Commit())
		} else {
			enginetest.Must(t, tx.Rollback())
		}
		enginetest.Must(t, <-again)
		if n := messages(t, p); n != 1 {
			t.Errorf("commit %v: %d messages, want 1", commit, n)
		}
		enginetest.CheckPlaces(t, p)
	}
}

// waitForLock waits until n sessions wait for locks on behalf of this place.
func waitForLock(t testing.TB, p *enginetest.Place, n int64) {
	t.Helper()
	enginetest.Until(t, "sessions wait for locks", func() bool {
		return enginetest.Number(t, p, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`, p.Names.Schema) >= n
	})
}

// D-4, D-6: without any answer a call ends with its statement timeout, with an unknown outcome
// if it was sent; when no connection can be made the error says so; and afterwards everything
// works again.
func TestCallsEndWhenTheServerDoesNotAnswer(t *testing.T) {
	t.Parallel() // it waits for three deadlines
	p, proxy, db := behindProxy(t, postgres.Options{StatementTimeout: 2 * time.Second})
	id := enginetest.Put(t, p.Open(t, enginetest.Options{}), 1)[0]
	enqueue := func() error { id++; return db.Do(context.Background(), enginetest.Enqueue([]int64{id}, nil)) }
	enginetest.Until(t, "there is a connection with prepared statements", func() bool { return enqueue() == nil })
	proxy.Silence()
	sent := within(t, enqueue)
	enginetest.WantClass(t, sent, engine.ErrCommitUnknown)
	enginetest.WantClass(t, within(t, func() error { return db.Read(context.Background(), enginetest.Lanes()) }), engine.ErrTimeout)
	enginetest.WantClass(t, within(t, func() error { return db.Do(context.Background(), enginetest.Reap()) }), engine.ErrTimeout)

	other := proxytest.New(t, testpg.URL(t))
	db = open(t, other.URL(testpg.URL(t)), postgres.Options{Schema: p.Names.Schema, StatementTimeout: 5 * time.Second})
	other.Refuse(true)
	enginetest.WantClass(t, within(t, func() error { return db.Do(context.Background(), enginetest.Reap()) }), engine.ErrUnreachable)
	enginetest.WantClass(t, within(t, func() error { return db.CheckSchema(context.Background()) }), engine.ErrUnreachable)
	enginetest.WantClass(t, within(t, func() error { return db.Migrate(context.Background()) }), engine.ErrUnreachable)
	other.Refuse(false)
	enginetest.Do(t, db, enginetest.Reap())
}

// within fails the test when do does not return for very long.
func within(t testing.TB, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * time.Minute):
		t.Fatal("the call does not return")
		return nil
	}
}

// D-4, D-6: a call that is cancelled while the server works on it gets a grace period and is
// then unknown; its session ends on the server.
func TestCancelledUnderWayIsUnknownAndLeavesNoSession(t *testing.T) {
	p := place("application_name=cancelled_under_way")(t)
	db := enginetest.Migrated(t, p)
	owner := enginetest.Token()
	ids := enginetest.Put(t, db, 1)
	enginetest.Take(t, db, owner, 1)
	blocker, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer blocker.Rollback()
	_, err = blocker.Exec(p.Names.Render("SELECT * FROM pawl.outbox_claim FOR UPDATE"))
	enginetest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- db.Do(ctx, enginetest.Ack(owner, enginetest.Span{Lo: ids[0], N: 1})) }()
	waitForLock(t, p, 1)
	cancel()
	enginetest.WantClass(t, within(t, func() error { return <-done }), engine.ErrCommitUnknown)
	enginetest.Until(t, "the session is gone from the server", func() bool {
		return enginetest.Number(t, p, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cancelled_under_way' AND state <> 'idle'`) == 0
	})
}

// D-4: a call that is cancelled under way and can finish within its grace does.
func TestCancelledUnderWayFinishesWithinItsGrace(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	late := true
	for tries := 1; late; tries++ {
		var err error
		if late, err = cancelledAck(t, p, db); err != nil && (!late || tries == 5) {
			t.Fatal(err)
		}
	}
}

// cancelledAck acks a message and is cancelled during that. It is late when the machine was so
// slow that the grace was over before the answer came.
func cancelledAck(t *testing.T, p *enginetest.Place, db engine.DB) (late bool, err error) {
	t.Helper()
	owner := enginetest.Token()
	ids := enginetest.Put(t, db, 1)
	enginetest.Take(t, db, owner, 1)
	blocker, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer blocker.Rollback()
	_, err = blocker.Exec(p.Names.Render("SELECT * FROM pawl.outbox_claim FOR UPDATE"))
	enginetest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	ack := enginetest.Ack(owner, enginetest.Span{Lo: ids[0], N: 1})
	go func() { done <- db.Do(ctx, ack) }()
	waitForLock(t, p, 1)
	at := time.Now()
	cancel()
	enginetest.Must(t, blocker.Rollback())
	if err = <-done; err == nil && ack.N != 1 {
		t.Errorf("acked %d", ack.N)
	}
	return errors.Is(err, engine.ErrCommitUnknown) && time.Since(at) >= engine.Grace, err
}

// D-4, D-6: a migration that is cancelled while it waits leaves no session
// idle in its transaction.
func TestCancelledMigrationLeavesNoOpenTransaction(t *testing.T) {
	p := place("application_name=cancelled_migration")(t)
	db := enginetest.Migrated(t, p)
	blocker, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer blocker.Rollback()
	_, err = blocker.Exec(p.Names.Render("LOCK TABLE pawl.pawl_schema IN ACCESS EXCLUSIVE MODE"))
	enginetest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- db.Migrate(ctx) }()
	waitForLock(t, p, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled migration: %v", err)
	}
	enginetest.Until(t, "no transaction is left open", func() bool {
		return enginetest.Number(t, p, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cancelled_migration' AND state <> 'idle'`) == 0
	})
}

// D-3, D-4: a caller's transaction whose enqueue is cancelled ends when the
// caller rolls it back, also with a context that is over.
func TestCancelledEnqueueTxLeavesNoOpenTransaction(t *testing.T) {
	p := place("application_name=cancelled_tx")(t)
	db := enginetest.Migrated(t, p).(*postgres.DB)
	blocker, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer blocker.Rollback()
	_, err = blocker.Exec(p.Names.Render("LOCK TABLE pawl.outbox_message IN ACCESS EXCLUSIVE MODE"))
	enginetest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	std, err := pool(t, db).BeginTx(ctx, nil)
	enginetest.Must(t, err)
	own, err := db.Pool().Begin(ctx)
	enginetest.Must(t, err)
	done := make(chan error, 2)
	go func() { done <- db.DoTx(ctx, std, enginetest.Enqueue([]int64{1}, nil)) }()
	go func() { done <- db.DoTx(ctx, postgres.Tx(own), enginetest.Enqueue([]int64{2}, nil)) }()
	waitForLock(t, p, 2)
	cancel()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrCommitUnknown) {
			t.Errorf("a cancelled enqueue: %v", err)
		}
	}
	_, _ = std.Rollback(), own.Rollback(ctx)
	enginetest.Until(t, "no transaction is left open", func() bool {
		return enginetest.Number(t, p, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cancelled_tx' AND state <> 'idle'`) == 0
	})
}
