package pawl_test

import (
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"

	driver "modernc.org/sqlite"
)

// D-111: a copy of the file that is put back under a running program, by SQLite's own
// means: what the program enqueues next is handled, ids that it made since the copy are
// not given out again, and tokens grow.
func TestFileContentsPutBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.db")
	db := dbtest.SQLiteAt(t, path, sqlite.Options{})
	dbtest.Migrate(t, db)
	p := running(t, db)
	p.enqueue(false, "")
	saved := filepath.Join(t.TempDir(), "saved.db")
	_, err := db.SQL().ExecContext(t.Context(), "VACUUM INTO '"+saved+"'")
	p.check(err)
	p.work()
	p.wantHandled("before", p.some(5))
	token := p.token()
	for range 3 {
		token = p.wantToken(token)
	}
	var last outbox.MessageID
	for range 3 { // several blocks beyond the copy
		ids, err := p.Outbox.EnqueueBatch(t.Context(), make3000())
		p.check(err)
		last = ids[len(ids)-1]
	}
	generation := db.Generation()
	restore(t, path, saved)
	p.check(db.Do(t.Context(), engine.Ask(op.GenerationCheck{})))
	if db.Generation() == generation {
		t.Error("the program did not notice")
	}
	ids := p.some(10)
	for _, id := range ids {
		if at := id.Position(); at != 0 && at < last.Position() && p.mine(id) {
			t.Errorf("position %d, although %d was given out", at, last.Position())
		}
	}
	p.wantHandled("after", ids)
	p.wantToken(token)
}

// mine reports whether pawl made an id, which then is found where it says.
func (p *program) mine(id outbox.MessageID) bool {
	info, err := p.Outbox.GetByPosition(p.t.Context(), id.Position())
	return err == nil && info.ID == id
}

func make3000() []outbox.Message {
	msgs := make([]outbox.Message, 3000)
	for i := range msgs {
		msgs[i] = outbox.Message{Topic: "t"}
	}
	return msgs
}

// restore overwrites a database with another's contents, as the shell's .restore does.
func restore(t *testing.T, path, from string) {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(20000)")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	dbtest.Until(t, "the copy is put back", func() bool {
		err := conn.Raw(func(dc any) error {
			backup, err := dc.(interface {
				NewRestore(string) (*driver.Backup, error)
			}).NewRestore(from)
			if err != nil {
				return err
			}
			if _, err := backup.Step(-1); err != nil {
				_ = backup.Finish()
				return err
			}
			return backup.Finish()
		})
		return err == nil
	})
}

// D-111, D-60: a copy of the file in another place is of another generation as soon as
// somebody writes to it, and its tokens are greater than all that were given before.
func TestCopyOfAFile(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "live.db"), filepath.Join(dir, "copy.db")
	db := dbtest.SQLiteAt(t, path, sqlite.Options{})
	dbtest.Migrate(t, db)
	p := running(t, db)
	p.some(1)
	p.token()
	_, err := db.SQL().ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	p.check(err)
	copyFile(t, path, copied)
	token := p.token()
	for range 3 {
		token = p.wantToken(token)
	}
	q := running(t, dbtest.SQLiteAt(t, copied, sqlite.Options{}))
	q.wantToken(token)
	again := running(t, dbtest.SQLiteAt(t, copied, sqlite.Options{}))
	if before, after := q.number(), again.number(); before != after {
		t.Errorf("opened again, generation %d became %d", before, after)
	}
}

// number is that of the generation.
func (p *program) number() (n int64) {
	p.t.Helper()
	p.token() // somebody writes
	err := p.DB().(*sqlite.DB).SQL().QueryRowContext(p.t.Context(), "SELECT number FROM generation").Scan(&n)
	p.check(err)
	return n
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
