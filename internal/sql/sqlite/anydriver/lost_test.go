//go:build unix

package anydriver_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// logged is a log that can be searched.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

const nothingWritten = "nothing is written any more"

// observed is a migrated file whose log is kept.
func observed(t *testing.T) (*sqlite.DB, string, *logged) {
	t.Helper()
	l := &logged{}
	db, path := migrated(t, sqlite.Options{Logger: slog.New(slog.NewTextHandler(l, nil))})
	return db, path, l
}

// killed is what would be left of a database if all its processes were killed now.
func killed(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	to := filepath.Join(t.TempDir(), "left.db")
	for _, end := range []string{"", "-wal"} {
		from, err := os.Open(path + end)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		enginetest.Must(t, err)
		copied, err := os.Create(to + end)
		enginetest.Must(t, err)
		_, err = io.Copy(copied, from)
		enginetest.Must(t, errors.Join(err, copied.Close(), from.Close()))
	}
	left := open(t, to)
	var verdict string
	enginetest.Must(t, left.SQL().QueryRow("PRAGMA integrity_check").Scan(&verdict))
	if verdict != "ok" {
		t.Errorf("what is left is corrupt: %s", verdict)
	}
	return left
}

func wantReady(t *testing.T, db engine.DB, n int64) {
	t.Helper()
	if c := enginetest.Count(t, db); c.Ready != n {
		t.Errorf("%d messages are ready, want %d", c.Ready, n)
	}
}

func remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		enginetest.Must(t, os.Remove(name))
	}
}

// D-110: a log that is deleted takes no acknowledged message with it: its content is written
// into the file, and another log is created.
func TestDeletedLogIsRescued(t *testing.T) {
	for name, ends := range map[string][]string{"log": {"-wal"}, "index": {"-shm"}, "both": {"-wal", "-shm"}} {
		t.Run(name, func(t *testing.T) {
			db, path, l := observed(t)
			for range 15 {
				enginetest.Put(t, db, 10)
			}
			before := db.Generation()
			for _, end := range ends {
				remove(t, path+end)
			}
			enginetest.Put(t, db, 1)
			wantReady(t, killed(t, path), 151)
			wantReady(t, db, 151)
			if db.Failure() != nil || db.Generation() != before {
				t.Errorf("failure %v, history %d, was %d", db.Failure(), db.Generation(), before)
			}
			if l.count(nothingWritten) != 1 || l.count("opened anew") != 1 {
				t.Errorf("the log:\n%s", l.text.String())
			}
			enginetest.Take(t, db, enginetest.Token(), 151)
		})
	}
}

// D-110: the log is also recovered when nothing is written and a worker only waits.
func TestIdleWorkerRescuesTheLog(t *testing.T) {
	db, path, _ := observed(t)
	enginetest.Put(t, db, 150)
	s := db.Waiter(enginetest.Queue)
	defer s.Close()
	woken := enginetest.Asleep(t, s)
	remove(t, path+"-wal")
	enginetest.WantWoken(t, woken)
	wantReady(t, db, 150) // as the woken worker reads
	wantReady(t, killed(t, path), 150)
}

// D-4, D-110: when the log is deleted during a transaction, it is not reported as committed.
func TestLogDeletedDuringATransaction(t *testing.T) {
	db, path, _ := observed(t)
	enginetest.Put(t, db, 10)
	lo, err := db.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	look := engine.Each(op.ClockNow{}, func(*op.Clock, error) error { return os.Remove(path + "-wal") })
	err = db.Do(t.Context(), enginetest.Enqueue([]int64{lo}, nil), look)
	enginetest.WantClass(t, err, engine.ErrCommitUnknown)
	enginetest.WantClass(t, err, engine.ErrFileLost)
	enginetest.Put(t, db, 1)
	wantReady(t, killed(t, path), 12)
}

// D-110: what is noticed before anything was written leaves no unknown outcome.
func TestLogDeletedBeforeATransaction(t *testing.T) {
	var deletes func()
	db, path := migrated(t, sqlite.Options{Logger: slog.New(slog.DiscardHandler), Now: func() time.Time {
		if deletes != nil {
			deletes()
			deletes = nil
		}
		return time.Now()
	}})
	lo, err := db.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	deletes = func() { remove(t, path+"-wal") } // when the transaction has begun
	err = db.Do(t.Context(), enginetest.Enqueue([]int64{lo}, nil))
	if !errors.Is(err, engine.ErrFileLost) || errors.Is(err, engine.ErrCommitUnknown) {
		t.Errorf("got %v", err)
	}
	enginetest.Do(t, db, enginetest.Enqueue([]int64{lo}, nil))
	wantReady(t, killed(t, path), 1)
}

// D-110: the program's own transactions are not committed into a deleted log, and go on
// when there is another.
func TestLogDeletedUnderTheProgramsTransactions(t *testing.T) {
	db, path, _ := observed(t)
	_, err := db.SQL().Exec("CREATE TABLE mine (x)")
	enginetest.Must(t, err)
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	_, err = tx.Exec("INSERT INTO mine VALUES (1)")
	enginetest.Must(t, err)
	remove(t, path+"-wal")
	if err := tx.Commit(); !errors.Is(err, engine.ErrFileLost) {
		t.Errorf("the commit: %v", err)
	}
	insert := func() error {
		return db.InTx(t.Context(), func(ctx context.Context, tx engine.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO mine VALUES (2)")
			return err
		})
	}
	enginetest.Must(t, insert())
	remove(t, path+"-wal")
	tx, err = db.SQL().BeginTx(t.Context(), nil) // no other connection opens it again
	enginetest.Must(t, err)
	_, err = tx.Exec("INSERT INTO mine VALUES (3)")
	enginetest.Must(t, errors.Join(err, tx.Commit()))
	var sum int
	enginetest.Must(t, killed(t, path).SQL().QueryRow("SELECT sum(x) FROM mine").Scan(&sum))
	if sum != 5 {
		t.Errorf("the sum is %d, want 2 + 3", sum)
	}
}

// D-110: a log is not written into the file over what others wrote since: then the program
// has to be restarted, and not even its end changes the file.
func TestAnotherLogWasBegun(t *testing.T) {
	db, path, l := observed(t)
	enginetest.Put(t, db, 5)
	remove(t, path+"-wal", path+"-shm")
	other := start(t, "begin", path, "")
	lo, err := db.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	enginetest.WantClass(t, db.Do(t.Context(), enginetest.Enqueue([]int64{lo}, nil)), engine.ErrFileLost)
	enginetest.Until(t, "only a restart helps", func() bool {
		_ = db.CheckSchema(t.Context())
		select {
		case <-db.Lost():
			return true
		default:
			return false
		}
	})
	if err := db.Failure(); err == nil || !strings.Contains(err.Error(), "restart") {
		t.Errorf("failure: %v", err)
	}
	if l.count(nothingWritten) != 1 || l.count("has to be restarted") != 1 {
		t.Errorf("the log:\n%s", l.text.String())
	}
	other.begin()
	other.wait()
	before, err := os.ReadFile(path)
	enginetest.Must(t, err)
	enginetest.Must(t, db.Close())
	after, err := os.ReadFile(path)
	enginetest.Must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the end of the program wrote into the file")
	}
	var n int
	enginetest.Must(t, killed(t, path).SQL().QueryRow("SELECT count(*) FROM theirs").Scan(&n))
}

// D-111: another database in the place of an open one is opened, without the log of the old
// one, and nothing of the old one is kept in memory.
func TestReplacedDatabaseIsOpened(t *testing.T) {
	db, path, l := observed(t)
	enginetest.Put(t, db, 20)
	old := enginetest.Put(t, db, 1)[0]
	other, from := migrated(t)
	enginetest.Put(t, other, 3)
	enginetest.Must(t, other.Close())
	before := db.Generation()
	enginetest.Must(t, os.Rename(from, path))
	wantReady(t, db, 3)
	if ids := enginetest.Put(t, db, 1); ids[0] <= old-engine.BlockSize {
		t.Errorf("id %d", ids[0])
	}
	wantReady(t, killed(t, path), 4)
	if db.Generation() == before {
		t.Error("the history did not change")
	}
	if l.count(nothingWritten) != 1 || l.count("opened anew") != 1 {
		t.Errorf("the log:\n%s", l.text.String())
	}
	aside, err := filepath.Glob(path + "-wal.of-*")
	enginetest.Must(t, err)
	if len(aside) != 1 {
		t.Errorf("the old log was put aside as %q", aside)
	}
	enginetest.Take(t, db, enginetest.Token(), 4)
}

// D-111: ids are not taken from a block of the earlier database.
func TestReplacedDatabaseKeepsItsIDs(t *testing.T) {
	db, path, _ := observed(t)
	enginetest.Put(t, db, 1)
	other, from := migrated(t)
	taken := enginetest.Put(t, other, 2)
	enginetest.Must(t, other.Close())
	enginetest.Must(t, os.Rename(from, path))
	wantReady(t, db, 2)
	if ids := enginetest.Put(t, db, 1); ids[0] <= taken[1] {
		t.Errorf("id %d, after %d had been given", ids[0], taken[1])
	}
	wantReady(t, db, 3)
}

// D-110: as long as the file is missing or another is in its place nothing is written, and no
// new file created; when it is back the work goes on.
func TestFileIsAwayAndComesBack(t *testing.T) {
	db, path, l := observed(t)
	enginetest.Put(t, db, 2)
	lo, err := db.ReserveIDs(t.Context(), nil, 1)
	enginetest.Must(t, err)
	refuses := func(when string) {
		t.Helper()
		for what, err := range map[string]error{
			"do": db.Do(t.Context(), enginetest.Enqueue([]int64{lo}, nil)), "migrate": db.Migrate(t.Context()), "read": db.CheckSchema(t.Context()),
			"transaction": db.InTx(t.Context(), func(context.Context, engine.Tx) error { return nil }),
		} {
			if !errors.Is(err, engine.ErrFileLost) || !engine.Unavailable(err) {
				t.Errorf("%s %s: %v", what, when, err)
			}
		}
		if _, err := db.SQL().BeginTx(t.Context(), nil); !errors.Is(err, engine.ErrFileLost) {
			t.Errorf("the program's own transaction %s: %v", when, err)
		}
	}
	enginetest.Must(t, os.Rename(path, path+".away"))
	refuses("while the file is away")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file again: %v", err)
	}
	enginetest.Must(t, os.WriteFile(path, nil, 0o600))
	refuses("with an empty file in its place")
	stranger := filepath.Join(t.TempDir(), "stranger.db")
	enginetest.Must(t, open(t, stranger).Close())
	enginetest.Must(t, os.Rename(stranger, path))
	refuses("with a database of somebody else in its place")
	enginetest.Must(t, os.Rename(path+".away", path))
	enginetest.Until(t, "the file is back", func() bool { return db.CheckSchema(t.Context()) == nil })
	enginetest.Do(t, db, enginetest.Enqueue([]int64{lo}, nil))
	wantReady(t, killed(t, path), 3)
	if l.count(nothingWritten) != 1 {
		t.Errorf("the log:\n%s", l.text.String())
	}
}

// D-111: a link that points elsewhere now is another database, whose log is its own.
func TestLinkLeadsElsewhere(t *testing.T) {
	first, one := migrated(t)
	enginetest.Put(t, first, 1)
	enginetest.Must(t, first.Close())
	second, two := migrated(t)
	enginetest.Put(t, second, 2)
	link := filepath.Join(t.TempDir(), "current.db")
	enginetest.Must(t, os.Symlink(one, link))
	db := open(t, link)
	wantReady(t, db, 1)
	enginetest.Must(t, os.Symlink(two, link+".new"))
	enginetest.Must(t, os.Rename(link+".new", link))
	wantReady(t, db, 2)
	enginetest.Put(t, second, 1)
	wantReady(t, db, 3)
	if err := second.Failure(); err != nil {
		t.Error(err)
	}
}

// D-110: SQLite deletes the log with the last connection and creates another with the next.
// That is no error, also when it is noticed meanwhile.
func TestConnectionsComeAndGo(t *testing.T) {
	db, _, l := observed(t)
	enginetest.Put(t, db, 1)
	var all sync.WaitGroup
	for _, work := range []func() error{
		func() error { return db.CheckSchema(t.Context()) },
		func() error { return db.Do(t.Context(), engine.Ask(op.DoctorWrite{})) },
		func() error { return db.InTx(t.Context(), func(context.Context, engine.Tx) error { return nil }) },
		func() error { db.CloseIdle(); return nil },
		func() error { db.CloseIdle(); return nil },
	} {
		all.Go(func() {
			for range 300 {
				if err := work(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if l.count(nothingWritten) != 0 {
		t.Errorf("the log:\n%s", l.text.String())
	}
}

// D-90: a link in a file's place is not followed.
func TestLinkInTheFilesPlace(t *testing.T) {
	db, path, _ := observed(t)
	enginetest.Put(t, db, 1)
	other, elsewhere := migrated(t)
	enginetest.Put(t, other, 2)
	enginetest.Must(t, other.Close())
	enginetest.Must(t, os.Rename(path, path+".away"))
	enginetest.Must(t, os.Symlink(elsewhere, path))
	for range 2 {
		if err := db.CheckSchema(t.Context()); !errors.Is(err, engine.ErrFileLost) {
			t.Errorf("through a link: %v", err)
		}
		db.CloseIdle() // a new connection does not follow it either
	}
}

// D-111: a file that was replaced while pawl had no connection open.
func TestReplacedWhileIdle(t *testing.T) {
	db, path, _ := observed(t)
	enginetest.Put(t, db, 1)
	db.CloseIdle()
	other, from := migrated(t)
	enginetest.Put(t, other, 2)
	enginetest.Must(t, other.Close())
	enginetest.Must(t, os.Rename(from, path))
	before := db.Generation()
	enginetest.Until(t, "the other file is open", func() bool { return db.CheckSchema(t.Context()) == nil })
	wantReady(t, db, 2)
	if db.Generation() == before {
		t.Error("the history did not change")
	}
	db.CloseIdle() // deletes the log, as it should
	wantReady(t, db, 2)
}

// D-110: in a pool of the program's own pawl stops, because it cannot close the connections.
func TestLogDeletedInAPoolOfTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.db")
	pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_txlock=immediate")
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	db, err := sqlite.New(pool, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	enginetest.Must(t, db.Migrate(t.Context()))
	enginetest.Put(t, db, 1)
	tx, err := pool.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	remove(t, path+"-wal")
	lo := int64(engine.BlockSize * 5)
	enginetest.WantClass(t, db.DoTx(t.Context(), tx, enginetest.Enqueue([]int64{lo}, nil)), engine.ErrFileLost)
	enginetest.Must(t, tx.Rollback())
	err = db.Do(t.Context(), enginetest.Enqueue([]int64{lo}, nil))
	enginetest.WantClass(t, err, engine.ErrFileLost)
	select {
	case <-db.Lost():
	default:
		t.Errorf("no restart is asked for: %v", db.Failure())
	}
}

// vanishing is a connector whose file is moved away while a connection is made.
type vanishing struct {
	driver.Connector
	away func()
}

func (v vanishing) Connect(ctx context.Context) (driver.Conn, error) {
	v.away()
	return v.Connector.Connect(ctx)
}

// D-6: a file that disappears after it was checked, while a connection to it is made, is lost, not unreachable: a
// program that waits for it at its start goes on waiting.
func TestFileGoesAwayWhileAConnectionIsMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var gone atomic.Bool
	connect := func(dsn string) (driver.Connector, error) {
		c, err := sqlite.Modernc(dsn)
		return vanishing{c, func() {
			if gone.Load() {
				_ = os.Rename(path, path+".away")
			}
		}}, err
	}
	db, err := sqlite.OpenWith(connect, path, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	enginetest.Must(t, db.Migrate(t.Context()))
	gone.Store(true)
	if err := db.Read(t.Context(), enginetest.Lanes()); !errors.Is(err, engine.ErrFileLost) {
		t.Errorf("a file that is gone: %v", err)
	}
}
