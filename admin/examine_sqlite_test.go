package admin_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// lite is a fresh SQLite file with pawl's tables.
func lite(t *testing.T, o sqlite.Options) (path string, db *sqlite.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.db")
	db = dbtest.SQLiteAt(t, path, o)
	dbtest.Migrate(t, db)
	return path, db
}

func execute(t *testing.T, db *sqlite.DB, query string) {
	t.Helper()
	if _, err := db.SQL().ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// ownPool is a pool of a program's own, with parameters.
func ownPool(t *testing.T, path, params string) *sqlite.DB {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&"+params)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.New(pool, sqlite.Options{KeepJournal: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = db.Close()
		_ = pool.Close()
	})
	return db
}

func TestExamineSQLiteSettings(t *testing.T) {
	t.Parallel()
	path, db := lite(t, sqlite.Options{})
	wantOK(t, examine(t, db, engine.ExamineLimits{}), "durability")
	wantFinding(t, examine(t, dbtest.SQLiteAt(t, path, sqlite.Options{Relaxed: true}), engine.ExamineLimits{}), "durability", health.Note, "synchronous = NORMAL", "Relaxed")
	wantFinding(t, examine(t, ownPool(t, path, "_pragma=synchronous(1)"), engine.ExamineLimits{}), "durability", health.Warning, "synchronous = NORMAL", "FULL")
	wantFinding(t, examine(t, ownPool(t, path, "_pragma=synchronous(0)"), engine.ExamineLimits{}), "durability", health.Problem, "synchronous = OFF", "FULL")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	other, deleting := lite(t, sqlite.Options{})
	if err := deleting.Close(); err != nil {
		t.Fatal(err)
	}
	findings := examine(t, ownPool(t, other, "_pragma=journal_mode(DELETE)&_pragma=synchronous(2)"), engine.ExamineLimits{})
	wantFinding(t, findings, "durability", health.Warning, "journal_mode = delete", "WAL")
}

func TestExamineSQLiteThatCannotBeWrittenTo(t *testing.T) {
	t.Parallel()
	path, db := lite(t, sqlite.Options{})
	wantOK(t, examine(t, db, engine.ExamineLimits{}), "writable")
	findings := examine(t, ownPool(t, path, "mode=ro"), engine.ExamineLimits{})
	wantFinding(t, findings, "writable", health.Problem, "readonly", "mode=ro")
	wantOK(t, findings, "joins")
	findings = examine(t, ownPool(t, path, "_pragma=query_only(1)"), engine.ExamineLimits{})
	wantFinding(t, findings, "writable", health.Problem, "readonly", "query_only")
	wantFinding(t, findings, "file", health.Problem, "query_only = 1", "without")
	wantOK(t, examine(t, db, engine.ExamineLimits{}), "writable")
}

// What a reader still needs stays in the log.
func TestExamineSQLiteReaderHoldsTheLog(t *testing.T) {
	t.Parallel()
	path, db := lite(t, sqlite.Options{})
	limits := engine.ExamineLimits{LogPages: 20}
	reader := ownPool(t, path, "").SQL()
	tx, err := reader.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM outbox_message").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		execute(t, db, fmt.Sprintf("INSERT INTO inbox (source, message_id, last_error, first_seen_utc, last_seen_utc) VALUES ('s', '%d', 'e', 0, 0)", i))
	}
	evidence := "must stay"
	if locks, err := os.ReadFile("/proc/locks"); err == nil && strings.Contains(string(locks), fmt.Sprintf(" %d ", os.Getpid())) {
		evidence += fmt.Sprintf("; readers: process %d", os.Getpid())
	}
	wantFinding(t, examine(t, db, limits), "log", health.Warning, evidence, "wal_checkpoint(TRUNCATE)")
	wantOK(t, examine(t, db, engine.ExamineLimits{}), "log")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	wantOK(t, examine(t, db, limits), "log")
}

func TestExamineSQLiteFile(t *testing.T) {
	t.Parallel()
	_, db := lite(t, sqlite.Options{})
	wantOK(t, examine(t, db, engine.ExamineLimits{}), "file")
	wantFinding(t, examine(t, db, engine.ExamineLimits{DiskFree: 1 << 62}), "file", health.Problem, " MB left", "Make room")
	execute(t, db, "CREATE TABLE big AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300) SELECT i, randomblob(4000) FROM c")
	wantOK(t, examine(t, db, engine.ExamineLimits{FreePages: 100}), "file")
	execute(t, db, "DROP TABLE big")
	wantFinding(t, examine(t, db, engine.ExamineLimits{FreePages: 100}), "file", health.Note, "pages are empty", "VACUUM")
	execute(t, db, "VACUUM")
	wantOK(t, examine(t, db, engine.ExamineLimits{FreePages: 100}), "file")
}

// A file whose pages do not fit together is a problem, whatever else still works.
func TestExamineSQLiteCorruptFile(t *testing.T) {
	t.Parallel()
	const page = 4096
	for name, spoil := range map[string]func(t *testing.T, file *os.File, pages int64){
		"a page of zeros": func(t *testing.T, file *os.File, pages int64) { write(t, file, make([]byte, page), (pages-2)*page) },
		"a torn page": func(t *testing.T, file *os.File, pages int64) {
			write(t, file, []byte("torn torn torn torn torn"), (pages-3)*page)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, db := lite(t, sqlite.Options{})
			execute(t, db, "INSERT INTO inbox (source, message_id, last_error, first_seen_utc, last_seen_utc) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000) SELECT 's', i, 'e', 0, 0 FROM c")
			wantOK(t, examine(t, db, engine.ExamineLimits{}), "pages")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			info, err := file.Stat()
			if err != nil {
				t.Fatal(err)
			}
			spoil(t, file, info.Size()/page)
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			wantFinding(t, examine(t, dbtest.SQLiteAt(t, path, sqlite.Options{}), engine.ExamineLimits{}), "pages", health.Problem, "the file is corrupt: ", "backup")
		})
	}
}

// A file that cannot be read to the end in time is no fault.
func TestExamineSQLiteFileTooLargeForItsTime(t *testing.T) {
	t.Parallel()
	_, db := lite(t, sqlite.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, one := range db.Examinations(engine.ExamineLimits{}) {
		if one.Name != "pages" {
			continue
		}
		found, err := one.Examine(ctx)
		if err != nil || len(found) != 1 || found[0].Level != health.Note {
			t.Errorf("found %+v, error %v", found, err)
		}
	}
}

func write(t *testing.T, file *os.File, data []byte, at int64) {
	t.Helper()
	if _, err := file.WriteAt(data, at); err != nil {
		t.Fatal(err)
	}
}

func TestExamineSQLiteObjects(t *testing.T) {
	t.Parallel()
	_, db := lite(t, sqlite.Options{Prefix: "p_"})
	execute(t, db, "CREATE TABLE mine (x)") // not pawl's
	wantOK(t, examine(t, db, engine.ExamineLimits{}), "objects")
	execute(t, db, "ALTER TABLE p_lease ADD COLUMN more TEXT")
	wantFinding(t, examine(t, db, engine.ExamineLimits{}), "objects", health.Problem, "table p_lease is not as pawl made it", "by hand")
	execute(t, db, "ALTER TABLE p_lease DROP COLUMN more")
	execute(t, db, "DROP INDEX p_timer_key")
	f := wantFinding(t, examine(t, db, engine.ExamineLimits{}), "objects", health.Problem, "missing index p_timer_key", "CREATE UNIQUE INDEX")
	execute(t, db, f.NextStep)
	wantOK(t, examine(t, db, engine.ExamineLimits{}), "objects")
}
