package replaytest_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/fleettest"
	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
)

// stores are databases of SQL Server and files, and options of a fleet over them.
func stores(t *testing.T, servers, files int) (dbs []fleet.Database, o fleet.Options) {
	t.Helper()
	for i := range servers {
		db, s := open(t)
		enginetest.Must(t, db.Migrate(t.Context()))
		dbs = append(dbs, fleet.Database{Key: fmt.Sprintf("ms%02d", i), URL: s.URL()})
	}
	for i := range files {
		path := filepath.Join(t.TempDir(), "store.db")
		dbtest.Migrate(t, dbtest.SQLiteAt(t, path, sqlite.Options{Relaxed: true}))
		dbs = append(dbs, fleet.Database{Key: fmt.Sprintf("file%02d", i), URL: "sqlite:" + path})
	}
	o.Engines = map[string]fleet.Opener{"sqlite": sqlite.OpenURL, "sqlserver": sqlserver.OpenURL}
	return dbs, o
}

// OBX-066, D-94: every component works in every store, with handlers registered once.
func TestEveryComponentInEveryStore(t *testing.T) {
	t.Parallel()
	dbs, o := stores(t, 1, 1)
	fleettest.EveryComponent(t, dbs, o)
}

// OBX-066, OBX-071, OBX-107, D-90, D-94: tenants' messages never cross stores, whatever their
// engines, and every line of the log says which store it is about.
func TestTenantCanaries(t *testing.T) {
	t.Parallel()
	dbs, o := stores(t, 3, 3)
	fleettest.Canaries(t, dbs, o)
}
