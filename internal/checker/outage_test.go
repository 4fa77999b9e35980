package checker_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/pgcluster"
)

// D-110: a server that is stopped, and started again.
func TestAServerStops(t *testing.T) {
	t.Parallel()
	c, err := pgcluster.Start(t.Context(), pgcluster.Options{Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	db, err := postgres.Open(c.URL(), postgres.Options{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	dbtest.Migrate(t, db)
	f := on(t, dbtest.Database{DB: db}, pawl.Options{Health: health.Options{Timeout: 20 * time.Second}})
	f.Handle("t", newGate().Handle)
	f.run()
	f.works()
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	f.until("database", health.Problem)
	f.alive()
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.until("database", health.OK)
	f.well()
	f.alive()
}

// D-110: a file that is moved away under a process that has it open: what is written
// to it then goes nowhere, and SQLite does not say so.
func TestAFileGoesAway(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := dbtest.SQLiteAt(t, path, sqlite.Options{})
	dbtest.Migrate(t, db)
	f := on(t, dbtest.Database{DB: db}, pawl.Options{})
	f.Handle("t", newGate().Handle)
	f.run()
	f.works()
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(path, path+".away")
	f.until("database", health.Problem)
	f.until("file", health.Problem)
	f.alive()
	if err := os.WriteFile(path, nil, 0o600); err != nil { // another in its place
		t.Fatal(err)
	}
	f.until("database", health.Problem)
	move(path+".away", path)
	f.until("database", health.OK)
	f.well()
	f.alive()
}
