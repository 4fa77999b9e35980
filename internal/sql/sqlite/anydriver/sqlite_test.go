package anydriver_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// foreign is a place whose handles use pools of the program's own.
func callerTx(t testing.TB) *enginetest.Place {
	dsn := "file:" + filepath.Join(t.TempDir(), "own.db") + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(20000)&_txlock=immediate"
	connect := func(t testing.TB) *sql.DB {
		pool, err := sql.Open("sqlite", dsn)
		enginetest.Must(t, err)
		t.Cleanup(func() { _ = pool.Close() })
		return pool
	}
	look := connect(t)
	enginetest.Must(t, look.Ping()) // makes the file, in WAL mode as New asks for
	return &enginetest.Place{
		Open: func(t testing.TB, o enginetest.Options) engine.DB {
			db, err := sqlite.New(connect(t), sqlite.Options{Prefix: o.Prefix, StatementTimeout: o.StatementTimeout})
			enginetest.Must(t, err)
			t.Cleanup(func() { _ = db.Close() })
			return db
		},
		SQL:          look,
		Pool:         func(db engine.DB) *sql.DB { return db.(*sqlite.DB).SQL() },
		AddMigration: func(db engine.DB, text string) { sqlite.AddMigration(db.(*sqlite.DB), text) },
		SetObject:    func(db engine.DB, kind, name, text string) { sqlite.SetObject(db.(*sqlite.DB), kind, name, text) },
	}
}

// OBX-100: pawl works in a pool that the program opened by itself.
func TestConformanceInAPoolOfTheProgram(t *testing.T) { enginetest.Run(t, callerTx) }

func migrated(t testing.TB, o ...sqlite.Options) (*sqlite.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path, o...)
	enginetest.Must(t, db.Migrate(context.Background()))
	return db, path
}

// D-6: invalid options are refused at once.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	enginetest.Must(t, os.WriteFile(garbage, []byte(strings.Repeat("this is no database. ", 1000)), 0o600))
	for name, path := range map[string]string{
		"no path": "", "blanks": "  ", "memory": ":memory:", "memory URI": "file:x?mode=memory", "shared memory": "file::memory:?cache=shared", "memory name": "file::memory:",
		"directory": dir, "missing directory": filepath.Join(dir, "missing", "x.db"), "garbage": garbage,
	} {
		db, err := sqlite.Open(path)
		if err == nil {
			t.Errorf("%s: opened", name)
			_ = db.Close()
		}
		if local := filepath.IsAbs(path); local && !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	pool, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "small.db")+"?_txlock=immediate")
	enginetest.Must(t, err)
	defer pool.Close()
	for _, n := range []int{1, 3} {
		pool.SetMaxOpenConns(n)
		if _, err := sqlite.New(pool); err == nil {
			t.Errorf("a pool of %d connections was accepted", n)
		}
	}
	pool.SetMaxOpenConns(4)
	if _, err := sqlite.New(pool); err != nil {
		t.Errorf("a pool of 4: %v", err)
	}
	if _, err := sqlite.Open(filepath.Join(dir, "x.db"), sqlite.Options{Prefix: `x"; DROP TABLE y; --`}); !errors.Is(err, engine.ErrName) {
		t.Errorf("a bad prefix: %v", err)
	}
}

// D-836: transactions that wait for each other have no connections meanwhile: the pool would close them, and the
// next ones open others.
func TestTransactionsWaitWithoutConnections(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	enginetest.Must(t, db.Migrate(t.Context()))
	before := db.SQL().Stats().MaxIdleClosed
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 10 {
				if err := db.InTx(t.Context(), func(context.Context, engine.Tx) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if closed := db.SQL().Stats().MaxIdleClosed - before; closed > 0 {
		t.Errorf("%d connections were closed", closed)
	}
}

// D-101: any file name names a file.
func TestOddFileNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "q?mark.db", "hash#tag.db", "per%20cent.db", "żółw.db", "a:b.db", "amp&x=y.db", "plus+.db"} {
		path := filepath.Join(dir, name)
		db := open(t, path)
		enginetest.Must(t, db.Migrate(t.Context()))
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	uri := "file:" + filepath.Join(dir, "uri.db") + "?_pragma=foreign_keys(1)"
	db := open(t, uri)
	var on int
	enginetest.Must(t, db.SQL().QueryRow("PRAGMA foreign_keys").Scan(&on))
	if on != 1 {
		t.Error("the URI's own parameter is lost")
	}
}

// D-3: a commit waits for the disk, unless that is relaxed.
func TestCommitsWaitForTheDisk(t *testing.T) {
	for relaxed, want := range map[bool]int64{false: 2, true: 1} {
		db, _ := migrated(t, sqlite.Options{Relaxed: relaxed})
		enginetest.Put(t, db, 1)
		if v, err := db.WriterPragma("synchronous"); err != nil || v != want {
			t.Errorf("relaxed %v: synchronous = %d, error %v", relaxed, v, err)
		}
		var v int64
		enginetest.Must(t, db.SQL().QueryRow("PRAGMA synchronous").Scan(&v))
		if v != want {
			t.Errorf("relaxed %v: synchronous = %d for the program", relaxed, v)
		}
	}
}

// D-3, OBX-099: a write lock that is not granted in time is busy, for another process and for
// a transaction of this one.
func TestWriteLockTaken(t *testing.T) {
	patient, path := migrated(t)
	db := open(t, path, sqlite.Options{StatementTimeout: 500 * time.Millisecond})
	available := func() bool { return db.Migrate(t.Context()) == nil } // sooner or later: the machine may be slow
	enginetest.Until(t, "the handle is connected", available)
	for name, pool := range map[string]*sql.DB{"another handle": patient.SQL(), "the same": db.SQL()} {
		t.Run(name, func(t *testing.T) {
			tx, err := pool.BeginTx(t.Context(), nil)
			enginetest.Must(t, err)
			defer tx.Rollback()
			enginetest.WantClass(t, db.Do(t.Context(), enginetest.Enqueue([]int64{1}, nil)), engine.ErrBusy)
			enginetest.WantClass(t, db.Migrate(t.Context()), engine.ErrBusy)
			_, err = db.ReserveIDs(t.Context(), nil, 1)
			enginetest.WantClass(t, err, engine.ErrBusy)
			if c := enginetest.Count(t, patient); c.Sum() != 0 { // reading needs no lock
				t.Errorf("%+v", c)
			}
			enginetest.Must(t, tx.Rollback())
			enginetest.Until(t, "the lock is to be had", available)
		})
	}
}

// D-6: a transaction that exceeds its time is rolled back, wherever it is, and a read is
// interrupted.
func TestStatementDeadline(t *testing.T) {
	patient, path := migrated(t)
	enginetest.Put(t, patient, 50)
	db := open(t, path, sqlite.Options{StatementTimeout: 400 * time.Millisecond})
	slow := func(engine.Row) error { <-time.After(20 * time.Millisecond); return nil }
	owner := enginetest.Token()
	claim := &engine.Call{Operation: op.OutboxClaim{Queue: enginetest.Queue, Owner: owner, Lease: time.Hour, Most: 50}, Each: slow}
	enginetest.WantClass(t, db.Do(t.Context(), claim, enginetest.Enqueue([]int64{1 << 40}, nil)), engine.ErrTimeout)
	if c := enginetest.Count(t, patient); c.Ready != 50 || c.Sum() != 50 {
		t.Errorf("after a transaction out of time: %+v", c)
	}
	all := op.OutboxListRecent{OutboxFilter: op.OutboxFilter{Before: 1 << 60, Most: 100}}
	enginetest.WantClass(t, db.Read(t.Context(), &engine.Call{Operation: all, Each: slow}), engine.ErrTimeout)
}

// D-6: writes to a read-only file return that error; reading goes on.
func TestReadOnlyFile(t *testing.T) {
	db, path := migrated(t)
	enginetest.Put(t, db, 2)
	ro := open(t, "file:"+path+"?mode=ro")
	enginetest.WantClass(t, ro.Do(t.Context(), enginetest.Enqueue([]int64{1 << 40}, nil)), engine.ErrReadOnly)
	if c := enginetest.Count(t, ro); c.Ready != 2 {
		t.Errorf("%+v", c)
	}
}

// D-613: what keeps this process from writing is said, and nothing where it can.
func TestCheckWrites(t *testing.T) {
	db, path := migrated(t)
	if found, err := db.CheckWrites(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	only := open(t, "file:"+path+"?_pragma=query_only(1)")
	if found, err := only.CheckWrites(t.Context()); len(found) != 1 || !strings.Contains(found[0].Summary, "query_only") || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

// D-4: a caller whose context ends while it waits for the write lock returns, and nothing of
// its call happens, whoever shares its transaction.
func TestGivingUpOnTheWriteLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(path)
		enginetest.Must(t, err)
		defer func() { enginetest.Must(t, db.Close()) }()
		enginetest.Must(t, db.Migrate(t.Context()))
		tx, err := db.SQL().BeginTx(t.Context(), nil)
		enginetest.Must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 6)
		for i := range 6 {
			go func() { errs <- db.Do(ctx, enginetest.Enqueue([]int64{100 + int64(i)}, nil)) }()
		}
		synctest.Wait()
		began := time.Now()
		cancel()
		for range 6 {
			if err := <-errs; !errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrCommitUnknown) {
				t.Errorf("gave up: %v", err)
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("giving up took %v", d)
		}
		stay := make(chan error, 1)
		go func() { stay <- db.Do(context.Background(), enginetest.Enqueue([]int64{200}, nil)) }()
		synctest.Wait()
		enginetest.Must(t, tx.Rollback())
		enginetest.Must(t, <-stay)
		if c := enginetest.Count(t, db); c.Ready != 1 {
			t.Errorf("%+v", c)
		}
	})
}

// D-3, OBX-098: a transaction of the program holds the write lock from its beginning, so that
// writing after reading never fails.
func TestTransactionsOfTheProgramAreImmediate(t *testing.T) {
	db, path := migrated(t)
	other := open(t, path, sqlite.Options{StatementTimeout: 500 * time.Millisecond})
	enginetest.Until(t, "the handle is connected", func() bool { return other.Migrate(t.Context()) == nil })
	_, err := db.SQL().Exec("CREATE TABLE counter (n INTEGER)")
	enginetest.Must(t, err)
	_, err = db.SQL().Exec("INSERT INTO counter VALUES (0)")
	enginetest.Must(t, err)
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	var n int
	enginetest.Must(t, tx.QueryRow("SELECT n FROM counter").Scan(&n))
	enginetest.WantClass(t, other.Do(t.Context(), enginetest.Enqueue([]int64{1}, nil)), engine.ErrBusy)
	_, err = tx.Exec("UPDATE counter SET n = 0")
	enginetest.Must(t, err)
	enginetest.Must(t, tx.Commit())

	ro, err := db.SQL().BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	enginetest.Must(t, err)
	enginetest.Do(t, db, enginetest.Enqueue([]int64{2}, nil)) // a reader keeps no writer waiting
	enginetest.Must(t, ro.Rollback())

	second := open(t, path)
	var wg sync.WaitGroup
	for i := range 8 {
		pool := []*sql.DB{db.SQL(), second.SQL()}[i%2]
		wg.Go(func() {
			for range 10 {
				if err := increment(pool); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			if err := db.Do(context.Background(), enginetest.Enqueue([]int64{10 + int64(i)}, nil)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	enginetest.Must(t, db.SQL().QueryRow("SELECT n FROM counter").Scan(&n))
	if n != 80 {
		t.Errorf("counted %d, want 80", n)
	}
}

func increment(pool *sql.DB) error {
	tx, err := pool.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRow("SELECT n FROM counter").Scan(&n); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE counter SET n = ?", n+1); err != nil {
		return err
	}
	return tx.Commit()
}

// D-3: however a transaction of the program ends, it releases the lock.
func TestTransactionsGiveTheLockBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, "file:"+path+"?_pragma=foreign_keys(1)", sqlite.Options{StatementTimeout: 10 * time.Second})
	enginetest.Must(t, db.Migrate(t.Context()))
	_, err := db.SQL().Exec("CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)")
	enginetest.Must(t, err)
	id := int64(0)
	free := func(what string) {
		t.Helper()
		id++
		if err := db.Do(t.Context(), enginetest.Enqueue([]int64{id}, nil)); err != nil {
			t.Fatalf("after %s: %v", what, err)
		}
	}
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	_, err = tx.Exec("INSERT INTO child VALUES (1)")
	enginetest.Must(t, err)
	if err := tx.Commit(); err == nil {
		t.Error("a broken reference was committed")
	}
	free("a failed commit")

	ctx, cancel := context.WithCancel(t.Context())
	tx, err = db.SQL().BeginTx(ctx, nil)
	enginetest.Must(t, err)
	_, err = tx.Exec("INSERT INTO parent VALUES (1)")
	enginetest.Must(t, err)
	cancel()
	free("a cancelled context")
	_ = tx.Rollback()
	var n int
	enginetest.Must(t, db.SQL().QueryRow("SELECT (SELECT count(*) FROM parent) + (SELECT count(*) FROM child)").Scan(&n))
	if n != 0 {
		t.Errorf("%d rows are left", n)
	}

	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.SQL().BeginTx(done, nil); err == nil {
		t.Error("began in a context that is over")
	}
	free("a transaction that never began")
}

// D-4, D-10: an id that was made in a transaction which was rolled back can be enqueued
// again: another message may have its position by then.
func TestEnqueueAgainAfterARollback(t *testing.T) {
	for _, taken := range []bool{false, true} {
		db, path := migrated(t)
		o, elsewhere := parts.NewOutbox(db, worker.Options{}), parts.NewOutbox(open(t, path), worker.Options{})
		tx, err := db.SQL().BeginTx(t.Context(), nil)
		enginetest.Must(t, err)
		id, err := o.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "first"})
		enginetest.Must(t, err)
		enginetest.Must(t, tx.Rollback())
		if taken {
			_, err = elsewhere.Enqueue(t.Context(), outbox.Message{Topic: "other"})
			enginetest.Must(t, err)
		}
		for range 2 {
			same, err := o.Enqueue(t.Context(), outbox.Message{Topic: "first", ID: id})
			if err != nil || same != id {
				t.Errorf("taken %v: %v, %v", taken, same, err)
			}
		}
		found, err := o.Get(t.Context(), id)
		if err != nil || found.Topic != "first" {
			t.Errorf("taken %v: the message is lost: %v", taken, err)
		}
		for range 3 {
			if _, err := elsewhere.Enqueue(t.Context(), outbox.Message{Topic: "other"}); err != nil {
				t.Errorf("taken %v: an innocent enqueue: %v", taken, err)
			}
		}
	}
}

// D-1: the process's clock is the database's clock: leases run out by it.
func TestTimeIsTheProcesss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlite.Open(path)
		enginetest.Must(t, err)
		defer func() { _ = db.Close() }()
		enginetest.Must(t, db.Migrate(t.Context()))
		enginetest.Put(t, db, 2)
		var got []enginetest.Message
		enginetest.Do(t, db, enginetest.Claim(enginetest.Token(), time.Hour, 2, &got))
		reap := enginetest.Reap()
		time.Sleep(time.Hour)
		enginetest.Do(t, db, reap)
		if reap.N != 0 {
			t.Errorf("reaped %d at the very end of the lease", reap.N)
		}
		time.Sleep(time.Microsecond)
		enginetest.Do(t, db, reap)
		if reap.N != 2 {
			t.Errorf("reaped %d after the lease", reap.N)
		}
		s := db.Waiter(enginetest.Queue)
		defer s.Close()
		began := time.Now()
		if s.Sleep(t.Context(), time.Minute) || time.Since(began) != time.Minute {
			t.Errorf("slept %v", time.Since(began))
		}
	})
}

// D-93: a file that was written to recently has no valid fingerprint: a commit that waits for the disk has written
// already, and cannot be read yet.
func TestFingerprintOfAFileJustWritten(t *testing.T) {
	db, path := migrated(t)
	opened, err := sqlite.OpenURL(engine.OpenOptions{URL: "sqlite:" + path})
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	enginetest.Put(t, db, 1)
	w, ok := engine.As[engine.Fingerprinter](opened)
	if !ok {
		t.Fatal("a file is not watched")
	}
	age := func(by time.Duration) {
		for _, name := range []string{path, path + "-wal"} {
			at := time.Now().Add(-by)
			enginetest.Must(t, os.Chtimes(name, at, at))
		}
	}
	for by, want := range map[time.Duration]bool{0: false, time.Second: false, 31 * time.Second: false, time.Hour: true} {
		age(by)
		if _, told := w.Fingerprint(); told != want {
			t.Errorf("written %v ago: told is %v", by, told)
		}
	}
}

// D-263: a file that somebody only opened keeps its fingerprint: a fleet would read a file again that it opened itself.
func TestFingerprintOfAFileJustOpened(t *testing.T) {
	db, path := migrated(t)
	enginetest.Must(t, db.Close())
	old := time.Now().Add(-time.Hour)
	enginetest.Must(t, os.Chtimes(path, old, old))
	opened, err := sqlite.OpenURL(engine.OpenOptions{URL: "sqlite:" + path})
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	w, _ := engine.As[engine.Fingerprinter](opened)
	closer, _ := engine.As[engine.IdleCloser](opened)
	closer.CloseIdle()
	before, told := w.Fingerprint()
	enginetest.Must(t, opened.CheckSchema(t.Context()))
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Fatal("the file is not open: ", err)
	}
	if now, still := w.Fingerprint(); !told || !still || now != before {
		t.Errorf("it was %q, %v, and is %q, %v", before, told, now, still)
	}
	enginetest.Put(t, opened, 1)
	if now, told := w.Fingerprint(); told && now == before {
		t.Error("a message did not change it")
	}
}

// D-263: reads one after the other share a connection; opening one takes longer than they do.
func TestReadsShareAConnection(t *testing.T) {
	_, path := migrated(t)
	opened, err := sqlite.OpenURL(engine.OpenOptions{URL: "sqlite:" + path})
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	for range 5 {
		enginetest.Must(t, opened.CheckSchema(t.Context()))
	}
	pool, _ := engine.As[engine.Pooled](opened)
	if open := pool.PoolStats().Open; open != 1 {
		t.Errorf("%d connections are open", open)
	}
	closer, _ := engine.As[engine.IdleCloser](opened)
	closer.CloseIdle()
	if open := pool.PoolStats().Open; open != 0 {
		t.Errorf("%d connections are open after all were closed", open)
	}
}

// D-440: what a call measures from its Reset, such as when a lease ends, begins before the clock of
// its transaction is read.
func TestResetComesBeforeTheClockIsRead(t *testing.T) {
	var reset, read bool
	db, _ := migrated(t, sqlite.Options{Now: func() time.Time {
		read = reset
		return time.Now()
	}})
	enginetest.Put(t, db, 1)
	var got []enginetest.Message
	claim := enginetest.Claim(enginetest.Token(), time.Minute, 10, &got)
	claim.Reset = func() { reset = true }
	enginetest.Do(t, db, claim)
	if len(got) != 1 || !read {
		t.Errorf("claimed %d messages; the clock was read after the reset: %v", len(got), read)
	}
}
