package lease_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/lease"
)

// D-101: other names for the tables break nothing.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	const prefix = "A_Prefix_of_thirty_two_Letters__"
	file := dbtest.SQLiteAt(t, filepath.Join(t.TempDir(), "test.db"), sqlite.Options{Prefix: prefix})
	d := dbtest.OpenPostgres(t)
	server := dbtest.PostgresAt(t, postgres.Options{Schema: d.Table("")[:len(d.Table(""))-1], Prefix: prefix})
	pool := stdlib.OpenDBFromPool(server.Pool())
	defer pool.Close()
	for name, db := range map[string]struct {
		engine.DB
		pool pooled
	}{"sqlite": {file, file.SQL()}, "postgres": {server, pool}} {
		t.Run(name, func(t *testing.T) {
			dbtest.Migrate(t, db)
			if _, err := db.pool.ExecContext(t.Context(), "CREATE TABLE effects_of_names (token BIGINT NOT NULL)"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = db.pool.ExecContext(context.Background(), "DROP TABLE effects_of_names") })
			everyCall(t, db.DB, db.pool)
		})
	}
}

func everyCall(t *testing.T, db engine.DB, pool pooled) {
	s := parts.NewLeases(db, "", nil)
	l, err := s.Acquire(t.Context(), "n", lease.Options{})
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan *lease.Lease, 1)
	go func() {
		l, err := s.AcquireWait(t.Context(), "n", lease.Options{})
		if err != nil {
			t.Error(err)
		}
		next <- l
	}()
	dbtest.Until(t, "one waits", func() bool {
		i, err := s.Get(t.Context(), "n")
		return err == nil && i.Waiting == 1
	})
	if err := guarded(t.Context(), pool, l, "effects_of_names"); err != nil {
		t.Fatal(err)
	}
	if err := l.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l = <-next; l == nil {
		return
	}
	if there, err := s.ForceRelease(t.Context(), "n"); !there || err != nil {
		t.Fatal(there, err)
	}
	if all, err := engine.Collect(s.List(t.Context(), lease.ListOptions{}), 100); err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
