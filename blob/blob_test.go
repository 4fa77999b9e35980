package blob_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/blob"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/pawltest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expiring is a store that deletes what is old.
type expiring interface {
	blob.Store
	Expire(ctx context.Context, olderThan time.Duration) (int, error)
}

// checkExpire puts blobs, makes some old, and insists that these go and the others stay.
func checkExpire(t *testing.T, store expiring, age func(key string)) {
	t.Helper()
	old := 0
	keys := map[string]bool{}
	for i := range 230 { // more than are deleted in one transaction
		key := uuid.NewString()
		must(t, store.Put(t.Context(), key, []byte("data")))
		if keys[key] = i%2 == 0; keys[key] {
			age(key)
			old++
		}
	}
	if n, err := store.Expire(t.Context(), time.Hour); err != nil || n != old {
		t.Errorf("deleted %d of %d: %v", n, old, err)
	}
	for key, gone := range keys {
		if _, err := store.Get(t.Context(), key); errors.Is(err, blob.ErrNotFound) != gone {
			t.Errorf("%v of a blob that is old: %v", err, gone)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Expire(ended, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// D-703: blobs in a table: what is put is found, and what is old is deleted.
func TestSQL(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		store := &blob.SQL{DB: d.SQL, Table: d.Table("blobs")}
		var all sync.WaitGroup
		for range 4 { // processes that start side by side
			all.Go(func() {
				if err := store.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		pawltest.CheckStore(t, store)
		checkExpire(t, store, func(key string) {
			_, err := d.SQL.ExecContext(t.Context(), "UPDATE "+store.Table+" SET created_at = created_at - $1 WHERE \"key\" = $2", (2 * time.Hour).Microseconds(), key)
			must(t, err)
		})
	})
}

// D-703: blobs in files: the same; what a crash left of a blob is deleted, too.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	store := &blob.Files{Dir: dir}
	if n, err := store.Expire(t.Context(), 0); n != 0 || err != nil {
		t.Error("expire before anything was put:", n, err)
	}
	pawltest.CheckStore(t, store)
	if found, err := filepath.Glob(filepath.Join(dir, "*", "put-*")); err != nil || len(found) > 0 {
		t.Error("temporary files are left:", found, err)
	}
	past := time.Now().Add(-2 * time.Hour)
	checkExpire(t, store, func(key string) {
		must(t, os.Chtimes(filepath.Join(dir, key[len(key)-2:], key), past, past))
	})
	half := filepath.Join(dir, "half")
	must(t, os.WriteFile(half, nil, 0o600))
	must(t, os.Chtimes(half, past, past))
	if n, err := store.Expire(t.Context(), time.Hour); n != 1 || err != nil {
		t.Error(n, err)
	}
}

// D-703: a key cannot lead out of the directory, and what is not set is an error.
func TestRefused(t *testing.T) {
	files := &blob.Files{Dir: t.TempDir()}
	for _, key := range []string{"", "x", "..", "../../x", "a/bc", "/etc/passwd", `a\..\b/c`} {
		if err := files.Put(t.Context(), key, nil); err == nil || !strings.Contains(err.Error(), "cannot be a file name") {
			t.Errorf("%q: %v", key, err)
		}
		if _, err := files.Get(t.Context(), key); err == nil || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%q: %v", key, err)
		}
	}
	if err := (&blob.Files{}).Put(t.Context(), "key", nil); err == nil {
		t.Error("no directory")
	}
	d := dbtest.OpenSQLite(t)
	for _, store := range []*blob.SQL{{}, {DB: d.SQL, Table: "a b"}, {DB: d.SQL, Table: "a;b"}, {DB: d.SQL, Table: "a.b.c"}, {DB: d.SQL, Table: `"a"`}} {
		_, expired := store.Expire(t.Context(), 0)
		_, got := store.Get(t.Context(), "key")
		for _, err := range []error{store.Migrate(t.Context()), store.Put(t.Context(), "key", nil), expired, got} {
			if err == nil || !strings.HasPrefix(err.Error(), "blob: ") {
				t.Errorf("%q: %v", store.Table, err)
			}
		}
	}
}
