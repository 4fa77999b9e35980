package fleet_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/canary"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// control is a control table with one tenant.
func control(t *testing.T) *sql.DB {
	t.Helper()
	db := dbtest.SQLiteAt(t, filepath.Join(t.TempDir(), "control.db"), sqlite.Options{}).SQL()
	for _, statement := range []string{
		"CREATE TABLE tenants (id TEXT, url TEXT, schema TEXT, prefix TEXT)",
		"INSERT INTO tenants VALUES ('a', 'sqlite:a.db', NULL, 'p_'), ('b', 'sqlite:b.db', 's', NULL)",
	} {
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	return db
}

// OBX-075: a control table has two to four columns; what is null is empty.
func TestTable(t *testing.T) {
	t.Parallel()
	db := control(t)
	for query, want := range map[string]fleet.Database{
		"SELECT id, url FROM tenants ORDER BY id":                 {Key: "a", URL: "sqlite:a.db"},
		"SELECT id, url, schema FROM tenants ORDER BY id DESC":    {Key: "b", URL: "sqlite:b.db", Schema: "s"},
		"SELECT id, url, schema, prefix FROM tenants ORDER BY id": {Key: "a", URL: "sqlite:a.db", Prefix: "p_"},
	} {
		dbs, err := fleet.Table(db, query).Discover(t.Context())
		if err != nil || len(dbs) != 2 || dbs[0] != want {
			t.Errorf("%s: %v, %v", query, dbs, err)
		}
	}
	for _, query := range []string{"SELECT id FROM tenants", "SELECT id, url, schema, prefix, id FROM tenants", "SELECT nothing", ""} {
		if dbs, err := fleet.Table(db, query).Discover(t.Context()); err == nil {
			t.Errorf("%q: %v", query, dbs)
		}
	}
	if n := db.Stats().InUse; n != 0 {
		t.Errorf("%d connections are kept", n)
	}
}

// OBX-075, OBX-077, OBX-078: files that appear are stores, files that vanish are not, and SQLite's own never were.
func TestDirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "with [brackets]", "with *", "with ?"} {
		dir := filepath.Join(t.TempDir(), name)
		must(t, os.Mkdir(dir, 0o700))
		f := open(t, fleet.Directory(dir, "*.db"), quick())
		if err := f.Refresh(t.Context()); err == nil {
			t.Error("an empty directory is a good list")
		}
		for _, file := range []string{"a.db", "b?x.db", "c d%20.db", "e.db-wal", "e.db-shm", "f.sqlite", "g#.db"} {
			must(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
		}
		must(t, os.Mkdir(filepath.Join(dir, "dir.db"), 0o700))
		must(t, f.Refresh(t.Context()))
		wantKeys(t, f, "a b?x c d%20 g#")
		must(t, os.Remove(filepath.Join(dir, "a.db")))
		must(t, f.Refresh(t.Context()))
		must(t, f.Refresh(t.Context()))
		wantKeys(t, f, "b?x c d%20 g#")
	}
	for _, d := range []fleet.Discovery{fleet.Directory(filepath.Join(t.TempDir(), "nowhere"), "*.db"), fleet.Directory(t.TempDir(), "[")} {
		if dbs, err := d.Discover(t.Context()); err == nil {
			t.Errorf("found %v", dbs)
		}
	}
}

// D-90: who may write into the directory reaches no file outside of it, and makes no
// two stores of one file.
func TestDirectoryWithLinks(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir, outside := filepath.Join(home, "dir"), filepath.Join(home, "dir-outside")
	for _, d := range []string{dir, outside, filepath.Join(dir, "sub")} {
		must(t, os.Mkdir(d, 0o700))
	}
	for _, file := range []string{filepath.Join(dir, "b.db"), filepath.Join(dir, "c.db"), filepath.Join(dir, "sub", "in.db"), filepath.Join(outside, "out.db")} {
		must(t, os.WriteFile(file, nil, 0o600))
	}
	link := func(how func(string, string) error, to, name string) {
		t.Helper()
		must(t, how(to, filepath.Join(dir, name)))
	}
	link(os.Symlink, filepath.Join(outside, "out.db"), "absolute.db")
	link(os.Symlink, "../dir-outside/out.db", "relative.db")
	link(os.Symlink, outside, "sub-outside")
	link(os.Symlink, "sub-outside/out.db", "indirect.db")
	link(os.Symlink, "nowhere.db", "dangling.db")
	link(os.Symlink, "sub/in.db", "in.db")
	link(os.Symlink, "b.db", "a-second-name.db")
	must(t, os.Link(filepath.Join(dir, "c.db"), filepath.Join(dir, "d-hard.db")))
	through := filepath.Join(home, "through")
	must(t, os.Symlink(dir, through))
	for _, at := range []string{dir, through} {
		w := canary.New()
		o := quick()
		o.Pawl.Logger = w.Logger()
		f := open(t, fleet.Directory(at, "*.db"), o)
		must(t, f.Refresh(t.Context()))
		wantKeys(t, f, "b c in")
		said := map[string]string{}
		for _, line := range w.Lines(t) {
			if line["level"] == "ERROR" {
				said[fmt.Sprint(line["store"])] = fmt.Sprint(line["error"])
			}
		}
		for key, want := range map[string]string{
			"absolute": "out of the directory", "relative": "out of the directory", "indirect": "out of the directory",
			"a-second-name": `the same file as that of store "b"`, "d-hard": `the same file as that of store "c"`,
		} {
			if !strings.Contains(said[key], want) {
				t.Errorf("of %q was said: %q", key, said[key])
			}
		}
		if len(said) != 5 {
			t.Errorf("said: %v", said)
		}
	}
}

// D-90: a store whose file gives way to a link out of the directory leaves the fleet.
func TestStoreBecomesALink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "out.db")
	for _, file := range []string{filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db"), outside} {
		must(t, os.WriteFile(file, nil, 0o600))
	}
	f := open(t, fleet.Directory(dir, "*.db"), quick())
	must(t, f.Refresh(t.Context()))
	wantKeys(t, f, "a b")
	must(t, os.Remove(filepath.Join(dir, "a.db")))
	must(t, os.Symlink(outside, filepath.Join(dir, "a.db")))
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context()))
	wantKeys(t, f, "b")
}

// OBX-066: files with odd names are worked on under their own names and no other's.
func TestOddFileNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names := []string{"a", "a?b", "a#b", "a%41", "a b", "ä", "a'b", "a&mode=memory", "a?mode=ro"}
	for _, name := range names {
		must(t, os.WriteFile(filepath.Join(dir, name+".db"), nil, 0o600))
	}
	o, r := quick(), newRecord()
	o.Pawl.EnableSchemaDeployment, o.Pawl.StopWhenEmpty = true, true
	f := open(t, fleet.Directory(dir, "*.db"), o)
	f.Handle("t", r.Handle)
	err := f.MigrateAll(t.Context(), "")
	must(t, err)
	for _, name := range names {
		enqueue(t, f, name, 2)
	}
	drain(t, f)
	for _, name := range names {
		if r.of(name) != 2 {
			t.Errorf("%q handled %d", name, r.of(name))
		}
	}
	r.once(t)
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if file, _, _ := strings.Cut(e.Name(), ".db"); !contains(names, file) {
			t.Errorf("a file of no store: %s", e.Name())
		}
	}
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// OBX-078: a file that somebody deletes does not come back, empty, because it is looked at.
func TestDeletedFileStaysDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		migrateFile(t, filepath.Join(dir, name+".db"))
	}
	o, r := quick(), newRecord()
	o.KeepReady, o.Cool = 1, 1 // connections are closed after every look
	f := open(t, fleet.Directory(dir, "*.db"), o)
	f.Handle("t", r.Handle)
	start(t, f)
	enqueue(t, f, "b", 1)
	r.until(t, "b", 1)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(filepath.Join(dir, "b.db"+suffix))
	}
	seen := state(f, "b").LastSuccess
	dbtest.Until(t, "it was looked at", func() bool { s := state(f, "b"); return s.Failures > 1 || s.LastSuccess.Sub(seen) > 0 })
	untilState(t, f, fleetstate.Failing, "b")
	must(t, f.Refresh(t.Context()))
	must(t, f.Refresh(t.Context()))
	wantKeys(t, f, "a c")
}

// OBX-071, OBX-107: passwords are in no error, no log, no health, and Where is fit to print.
func TestPasswordsAreNotShown(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	urls := []string{
		"postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=1", "postgres://127.0.0.1:1/db?user=u&password=hunter2", "postgresql://u@127.0.0.1:1/db?sslpassword=hunter2",
		"postgres://u:hunter2@%zz/db", "host=h password=hunter2", "host=h password=x:hunter2", "password=hunter2:", "postgres:password=hunter2", "hunter2", "postgres://u:hunter2@h:port/db",
		"postgres://127.0.0.1:1/db?user=u&password=hunter2;x", "postgres://127.0.0.1:1/db?password=hunter2%zz", "postgres://127.0.0.1:1/hunter2@h/db",
	}
	var dbs []fleet.Database
	for i, url := range urls {
		dbs = append(dbs, fleet.Database{Key: string(rune('a' + i)), URL: url})
		if where := dbs[i].Where(access.Key{}); strings.Contains(where, secret) {
			t.Errorf("Where: %s", where)
		}
	}
	out := &logs{}
	o := quick()
	o.Pawl.Logger = out.logger()
	f := open(t, fleet.Static(dbs...), o)
	start(t, f)
	for i := range dbs {
		if _, err := outboxOf(f, dbs[i].Key); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("error: %v", err)
		}
	}
	dbtest.Until(t, "all failed", func() bool {
		h := f.Operator(access.Key{}).State()
		for _, s := range h.Stores {
			if s.State != fleetstate.Failing {
				return false
			}
			if strings.Contains(s.Error+s.Where, secret) {
				t.Fatalf("health: %+v", s)
			}
		}
		return len(h.Stores) > 0
	})
	if strings.Contains(out.String(), secret) {
		t.Errorf("log:\n%s", out)
	}
}

// D-246: servers of a cluster are stores, each under its own address; an address that would be
// the same for all is refused.
func TestHosts(t *testing.T) {
	t.Parallel()
	db := control(t)
	const query = "SELECT 'node-1', 'w1.example', 5432 UNION ALL SELECT 'node-2', 'fd00::2', 5433 ORDER BY 1"
	dbs, err := fleet.Hosts(db, query, "postgres://app:secret@{host}:{port}/shop?application_name={host}").Discover(t.Context())
	must(t, err)
	want := []fleet.Database{
		{Key: "node-1", URL: "postgres://app:secret@w1.example:5432/shop?application_name=w1.example"},
		{Key: "node-2", URL: "postgres://app:secret@[fd00::2]:5433/shop?application_name=[fd00::2]"},
	}
	if !slices.Equal(dbs, want) {
		t.Errorf("%v", dbs)
	}
	for _, url := range []string{"postgres://app:secret@w1.example:{port}/shop", "postgres://app:secret@{host}/shop"} {
		if dbs, err := fleet.Hosts(db, query, url).Discover(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, %v", url, dbs, err)
		}
	}
	for _, query := range []string{"SELECT 'a', 'b'", "SELECT nothing", ""} {
		if dbs, err := fleet.Hosts(db, query, "postgres://{host}:{port}/shop").Discover(t.Context()); err == nil {
			t.Errorf("%q: %v", query, dbs)
		}
	}
}
