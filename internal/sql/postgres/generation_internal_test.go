package postgres

import (
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// D-552: a handle on a pool of the program's reads the generation over each of its connections, regardless of
// the handles that were there before.
func TestHandlesOfAPoolAreDistinct(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	seen := map[string]bool{}
	for i := range 400 {
		db, err := New(pool)
		if err != nil {
			t.Fatal(err)
		}
		if seen[db.checkedKey] {
			t.Fatalf("handle %d is taken for an earlier one", i)
		}
		seen[db.checkedKey] = true
		if i%20 == 0 {
			runtime.GC() // what is gone leaves its address
		}
	}
}
