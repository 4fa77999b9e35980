package postgres_test

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

func noPassword(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		t.Error("no error")
	} else if strings.Contains(err.Error(), rolePassword) {
		t.Errorf("the password is in the error: %v", err)
	}
}

// D-5: no error contains the password of the connection string.
func TestErrorsHoldNoPassword(t *testing.T) {
	for name, address := range map[string]string{
		"not a URL":        "postgres://u:" + rolePassword + "@h:notaport/db",
		"not a key":        "host=h password=" + rolePassword + " 'unfinished",
		"blanks":           "host=h port=bad password = '" + rolePassword + "'",
		"unknown sslmode":  "postgres://u:" + rolePassword + "@h/db?sslmode=perhaps",
		"a bad pool size":  "postgres://u:" + rolePassword + "@h/db?pool_max_conns=many",
		"a bad percentage": "postgres://u:" + rolePassword + "%zz@h/db",
		"a slash":          "postgres://u:12/" + rolePassword + "@h/db",
		"a question":       "postgres://u:12?" + rolePassword + "@h/db",
		"a number sign":    "postgres://u:12#" + rolePassword + "@h/db",
		"an at":            "postgres://u:top@" + rolePassword + "@h/db",
		"another host's":   "postgres://u:p@h1,u:" + rolePassword + "@h2/db",
		"in the host":      "host=u:" + rolePassword + "@h",
		"a service's":      "service=" + rolePassword + "-none password=" + rolePassword,
	} {
		if _, err := postgres.Open(address); err == nil || strings.Contains(err.Error(), rolePassword) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := postgres.OpenURL(engine.OpenOptions{URL: address}); err == nil || strings.Contains(err.Error(), rolePassword) {
			t.Errorf("%s: %v", name, err)
		}
	}
	u, err := url.Parse(testpg.URL(t))
	enginetest.Must(t, err)
	u.User = url.UserPassword("nobody_here", rolePassword)
	noPassword(t, open(t, u.String(), postgres.Options{}).CheckSchema(t.Context()))
	u.User, u.Path = url.UserPassword("postgres", rolePassword), "/nothing_here"
	noPassword(t, open(t, u.String(), postgres.Options{}).CheckSchema(t.Context()))
}

// Behind a pooler that assigns connections per transaction, as PgBouncer does, the error has
// advice; and the advice works.
func TestPreparedStatementsBehindATransactionPooler(t *testing.T) {
	t.Parallel()
	url := proxytest.NewPooler(t, testpg.URL(t)).URL(testpg.URL(t))
	open := func(url string) engine.DB {
		db, err := postgres.Open(url, postgres.Options{Schema: "prepared_elsewhere", PollOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db := open(with(url, "default_query_exec_mode=exec"))
	enginetest.Must(t, db.Migrate(t.Context()))
	var err error
	for tries := 0; err == nil && tries < 100; tries++ { // sooner or later a connection has prepared this for another session
		err = open(url).Read(t.Context(), enginetest.Lanes())
	}
	if err == nil || !strings.Contains(err.Error(), "42P05") || !strings.Contains(err.Error(), "default_query_exec_mode=exec") {
		t.Errorf("%v", err)
	}
	_, err = db.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
}

// D-4, D-6: a server that is missing, a database that is missing, and a pool without a free
// connection are distinguished from failing work.
func TestUnreachable(t *testing.T) {
	u, err := url.Parse(testpg.URL(t))
	enginetest.Must(t, err)
	nobody, nowhere := *u, *u
	nobody.Host, nowhere.Path = "127.0.0.1:1", "/nothing_here"
	for name, address := range map[string]string{"server": nobody.String(), "database": nowhere.String()} {
		t.Run(name, func(t *testing.T) {
			db := open(t, address, postgres.Options{})
			var got []enginetest.Message
			enginetest.WantClass(t, db.Do(t.Context(), enginetest.Claim(enginetest.Token(), time.Second, 1, &got)), engine.ErrUnreachable)
			enginetest.WantClass(t, db.Read(t.Context(), enginetest.Lanes()), engine.ErrUnreachable)
			_, err := db.ReserveIDs(t.Context(), nil, 1)
			enginetest.WantClass(t, err, engine.ErrUnreachable)
		})
	}
	p := place()(t)
	enginetest.Migrated(t, p)
	db := p.Open(t, enginetest.Options{StatementTimeout: 100 * time.Millisecond})
	defer p.Drain(t, db)()
	enginetest.WantClass(t, db.Do(t.Context(), enginetest.Reap()), engine.ErrTimeout)
}

// D-6: a statement that the server cancels at its deadline is a timeout, and
// nothing of it happened.
func TestStatementDeadlineOfTheServer(t *testing.T) {
	t.Parallel() // it waits for two deadlines
	p := place()(t)
	lo, err := enginetest.Migrated(t, p).ReserveIDs(t.Context(), nil, 2)
	enginetest.Must(t, err)
	db := open(t, with(testpg.URL(t), "statement_timeout=1000"), postgres.Options{Schema: p.Names.Schema})
	blocker, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer blocker.Rollback()
	_, err = blocker.Exec(p.Names.Render("LOCK TABLE pawl.outbox_claim IN ACCESS EXCLUSIVE MODE"))
	enginetest.Must(t, err)
	enginetest.WantClass(t, db.Do(t.Context(), enginetest.Enqueue([]int64{lo}, nil), enginetest.Reap()), engine.ErrTimeout)
	tx, err := p.Pool(db).BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer tx.Rollback()
	_, err = blocker.Exec(p.Names.Render("LOCK TABLE pawl.outbox_message IN ACCESS EXCLUSIVE MODE"))
	enginetest.Must(t, err)
	enginetest.WantClass(t, db.DoTx(t.Context(), tx, enginetest.Enqueue([]int64{lo}, nil)), engine.ErrTimeout)
	enginetest.Must(t, blocker.Rollback())
	if n := messages(t, p); n != 0 {
		t.Errorf("%d messages", n)
	}
}

// D-6: a session that takes no writes says so.
func TestReadOnlySession(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	db := open(t, with(testpg.URL(t), "default_transaction_read_only=on"), postgres.Options{Schema: p.Names.Schema})
	enginetest.WantClass(t, db.Do(t.Context(), enginetest.Enqueue([]int64{1}, nil)), engine.ErrReadOnly)
	if c := enginetest.Count(t, db); c.Sum() != 0 {
		t.Errorf("%+v", c)
	}
}

// D-4, D-6: a session that the server ends under way is unknown for a
// transaction, and a lost connection for a read and in a caller's transaction,
// where the commit is still to come.
func TestTerminatedSession(t *testing.T) {
	p := place("application_name=to_terminate")(t)
	db := enginetest.Migrated(t, p)
	blocker, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer blocker.Rollback()
	_, err = blocker.Exec(p.Names.Render("LOCK TABLE pawl.outbox_claim, pawl.outbox_message, pawl.outbox_lane IN ACCESS EXCLUSIVE MODE"))
	enginetest.Must(t, err)
	terminated := func(do func() error) error {
		done := make(chan error, 1)
		go func() { done <- do() }()
		waitForLock(t, p, 1)
		enginetest.Exec(t, p, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'to_terminate' AND wait_event_type = 'Lock'`)
		return <-done
	}
	enginetest.WantClass(t, terminated(func() error { return db.Do(context.Background(), enginetest.Reap()) }), engine.ErrCommitUnknown)
	enginetest.WantClass(t, terminated(func() error { return db.Read(context.Background(), enginetest.Lanes()) }), engine.ErrConnLost)
	tx, err := p.Pool(db).BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer tx.Rollback()
	enginetest.WantClass(t, terminated(func() error { return db.DoTx(context.Background(), tx, enginetest.Enqueue([]int64{1}, nil)) }), engine.ErrConnLost)
}

// D-3, OBX-099: a lock that is not granted is tried for five times, and each attempt discards
// the results of the one before.
func TestBusyIsTriedFiveTimes(t *testing.T) {
	p := place("lock_timeout=20")(t)
	db := enginetest.Migrated(t, p)
	enginetest.Put(t, db, 3)
	blocker, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer blocker.Rollback()
	_, err = blocker.Exec(p.Names.Render("LOCK TABLE pawl.outbox_claim IN ACCESS EXCLUSIVE MODE"))
	enginetest.Must(t, err)
	var attempts int
	var got []enginetest.Message
	claim := enginetest.Claim(enginetest.Token(), time.Minute, 10, &got)
	claim.Reset = func() { attempts++; got = nil }
	enginetest.WantClass(t, db.Do(t.Context(), claim), engine.ErrBusy)
	if attempts != 5 {
		t.Errorf("tried %d times, want 5", attempts)
	}
	enginetest.Must(t, blocker.Rollback())
	enginetest.Do(t, db, claim)
	if len(got) != 3 {
		t.Errorf("claimed %d of 3", len(got))
	}
}

// D-3, OBX-099: the victim of a deadlock is tried again and succeeds.
func TestDeadlockIsRetried(t *testing.T) {
	p := place("deadlock_timeout=20")(t)
	db := enginetest.Migrated(t, p)
	owner := enginetest.Token()
	var ids []int64
	for range 3 { // three runs of their own
		ids = append(ids, enginetest.Put(t, db, 1)...)
		enginetest.Take(t, db, owner, 1)
	}
	lock := `SELECT * FROM pawl.outbox_claim WHERE lo = $1 FOR UPDATE`
	// The first holds back Do at the second run, until the other waits for the
	// first run and holds the third: only then is there a circle, and only Do
	// looks for one.
	first, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer first.Rollback()
	_, err = first.Exec(p.Names.Render(lock), ids[1])
	enginetest.Must(t, err)
	other, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer other.Rollback()
	_, err = other.Exec("SET LOCAL deadlock_timeout = '1min'")
	enginetest.Must(t, err)
	_, err = other.Exec(p.Names.Render(lock), ids[2])
	enginetest.Must(t, err)

	attempts := 0
	var calls []*engine.Call
	for _, id := range ids {
		calls = append(calls, enginetest.Ack(owner, enginetest.Span{Lo: id, N: 1}))
	}
	calls[0].Reset = func() { attempts++ }
	done, otherDone := make(chan error, 1), make(chan error, 1)
	go func() { done <- db.Do(context.Background(), calls...) }()
	waitForLock(t, p, 1)
	go func() {
		_, err := other.Exec(p.Names.Render(lock), ids[0])
		if err == nil {
			err = other.Commit()
		}
		otherDone <- err
	}()
	waitForLock(t, p, 2)
	enginetest.Must(t, first.Rollback())
	enginetest.Must(t, <-otherDone)
	enginetest.Must(t, <-done)
	if attempts < 2 {
		t.Errorf("there was no deadlock: %d attempts", attempts)
	}
	for i, c := range calls {
		if c.N != 1 {
			t.Errorf("call %d touched %d", i, c.N)
		}
	}
	enginetest.CheckPlaces(t, p)
}

// D-3: a transaction that cannot be serialized is retried. At read committed that is caused by
// a trigger, or another program's routine.
func TestSerializationFailureIsRetried(t *testing.T) {
	p := place()(t)
	owner := enginetest.Token()
	db := enginetest.Migrated(t, p)
	ids := enginetest.Put(t, db, 1)
	enginetest.Take(t, db, owner, 1)
	for _, statement := range []string{
		"CREATE SEQUENCE pawl.attempt", // which no rollback takes back
		`CREATE FUNCTION pawl.fail_once() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
  IF nextval('pawl.attempt') = 1 THEN RAISE EXCEPTION 'not this time' USING ERRCODE = 'serialization_failure'; END IF;
  RETURN NEW;
END $f$`,
		"CREATE TRIGGER fail_once BEFORE INSERT ON pawl.outbox_done FOR EACH ROW EXECUTE FUNCTION pawl.fail_once()",
	} {
		enginetest.Exec(t, p, statement)
	}
	attempts := 0
	ack := enginetest.Ack(owner, enginetest.Span{Lo: ids[0], N: 1})
	ack.Reset = func() { attempts++ }
	enginetest.Must(t, db.Do(t.Context(), ack))
	if attempts != 2 || ack.N != 1 {
		t.Errorf("%d attempts, acked %d", attempts, ack.N)
	}
}

// D-3: the failures of a caller's transaction are the caller's: nothing is retried, and their
// classes are returned.
func TestFailuresInACallersTransactionAreNotRetried(t *testing.T) {
	p := place("lock_timeout=20")(t)
	db := enginetest.Migrated(t, p)
	blocker, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer blocker.Rollback()
	_, err = blocker.Exec(p.Names.Render("LOCK TABLE pawl.outbox_message IN ACCESS EXCLUSIVE MODE"))
	enginetest.Must(t, err)
	tx, err := p.Pool(db).BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer tx.Rollback()
	rec := &enginetest.Recorder{Tx: tx}
	enginetest.WantClass(t, db.DoTx(t.Context(), rec, enginetest.Enqueue([]int64{1}, nil)), engine.ErrBusy)
	if len(rec.Queries) != 1 {
		t.Errorf("sent %d statements, want 1", len(rec.Queries))
	}
}

// D-3, D-6: relaxed claims and acks do not wait for the disk, everything else does, and the
// server logs no warning.
func TestRelaxedAckIsRelaxedAboutNothingElse(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	for _, table := range []string{"outbox_message", "outbox_claim", "outbox_done", "outbox_exception"} {
		enginetest.Exec(t, p, `CREATE TABLE pawl.`+table+`_durable (setting text)`)
		enginetest.Exec(t, p, `CREATE FUNCTION pawl.`+table+`_note() RETURNS trigger LANGUAGE plpgsql AS $f$
			BEGIN INSERT INTO pawl.`+table+`_durable VALUES (current_setting('synchronous_commit')); RETURN NULL; END $f$`)
		enginetest.Exec(t, p, `CREATE TRIGGER note AFTER INSERT ON pawl.`+table+` FOR EACH ROW EXECUTE FUNCTION pawl.`+table+`_note()`)
	}
	config, err := pgxpool.ParseConfig(testpg.URL(t))
	enginetest.Must(t, err)
	var notices atomic.Int64
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		notices.Add(1)
		t.Logf("%s: %s", n.Severity, n.Message)
	}
	own, err := pgxpool.NewWithConfig(t.Context(), config)
	enginetest.Must(t, err)
	defer own.Close()
	db, err := postgres.New(own, postgres.Options{Schema: p.Names.Schema, RelaxedAck: true, Logger: slog.New(slog.DiscardHandler)})
	enginetest.Must(t, err)
	enginetest.LiveOnce(t, db)
	owner := enginetest.Token()
	enginetest.Take(t, db, owner, 10)
	lo, err := db.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	var more []enginetest.Message
	enginetest.Do(t, db, enginetest.Enqueue([]int64{lo}, nil), enginetest.Claim(enginetest.Token(), time.Minute, 1, &more))
	enginetest.Must(t, db.Close())
	want := func(table, setting string, least int64) {
		t.Helper()
		n := enginetest.Number(t, p, `SELECT count(*) FROM pawl.`+table+`_durable WHERE setting = $1`, setting)
		all := enginetest.Number(t, p, `SELECT count(*) FROM pawl.`+table+`_durable`)
		if n < least || table != "outbox_claim" && n != all {
			t.Errorf("%s: %d of %d inserts with synchronous_commit = %s", table, n, all, setting)
		}
	}
	want("outbox_message", "on", 2)
	want("outbox_exception", "on", 1)
	want("outbox_done", "off", 1)
	want("outbox_claim", "off", 1)
	want("outbox_claim", "on", 1) // the one in a transaction with an enqueue
	if n := notices.Load(); n != 0 {
		t.Errorf("the server sent %d notices", n)
	}
}

// D-440: what a call measures from its Reset, such as when a lease ends, begins before the call is
// sent: what Reset commits, the call sees.
func TestResetComesBeforeTheCallIsSent(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	var got []enginetest.Message
	claim := enginetest.Claim(enginetest.Token(), time.Minute, 10, &got)
	claim.Reset = func() { enginetest.Put(t, db, 1) }
	enginetest.Do(t, db, claim)
	if len(got) != 1 {
		t.Errorf("claimed %d messages, want the one that Reset committed", len(got))
	}
}
