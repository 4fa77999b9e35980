package engine_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bravellian/pawl/internal/engine"
)

func migrations(names ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for _, n := range names {
		files["schema/"+n] = &fstest.MapFile{Data: []byte("CREATE TABLE pawl." + strings.Trim(n, "0123456789_.sql") + "x (id integer)")}
	}
	return files
}

// D-100: migrations come in order and without gaps; anything else in their
// folder is a mistake.
func TestMigrationsAreLoadedInOrder(t *testing.T) {
	all, err := engine.LoadMigrations(migrations("0002_b.sql", "0001_a.sql", "0003_c_d.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Lowest != 1 || all[1].Lowest != 1 || all[2].Lowest != 2 {
		t.Errorf("without a word programs one version older may go on: %+v", all)
	}
	for i, name := range []string{"a", "b", "c_d"} {
		if all[i].Version != i+1 || all[i].Name != name || !strings.Contains(all[i].Text, `pawl.`) {
			t.Errorf("%d: %+v", i, all[i])
		}
	}
	for name, files := range map[string]fstest.MapFS{
		"a gap":     migrations("0001_a.sql", "0003_c.sql"),
		"no first":  migrations("0002_b.sql"),
		"twice":     migrations("0001_a.sql", "0001_b.sql"),
		"a stray":   migrations("0001_a.sql", "notes.txt"),
		"short":     migrations("001_a.sql"),
		"no folder": {},
		"lowest 0":  {"schema/0001_a.sql": {Data: []byte("-- lowest: 0\n")}},
		"lowest 2":  {"schema/0001_a.sql": {Data: []byte("-- lowest: 2\n")}},
	} {
		if _, err := engine.LoadMigrations(files); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// D-100: what a database has, against what this build wants.
func TestSchemaIsJudged(t *testing.T) {
	want := []engine.Migration{{Version: 1, Name: "a", Checksum: "x"}, {Version: 2, Name: "b", Checksum: "y"}}
	one, two, three := engine.Applied{Version: 1, Checksum: "x", Lowest: 1}, engine.Applied{Version: 2, Checksum: "y", Lowest: 1}, engine.Applied{Version: 3, Checksum: "z", Lowest: 3}
	kind, four := engine.Applied{Version: 3, Checksum: "z", Lowest: 2}, engine.Applied{Version: 4, Checksum: "w", Lowest: 2}
	folder := &engine.Folder{Migrations: want}
	for name, c := range map[string]struct {
		have    []engine.Applied
		check   error
		pending int // -1: an error
		newer   bool
	}{
		"nothing":        {nil, engine.ErrSchemaMissing, 2, false},
		"old":            {[]engine.Applied{one}, engine.ErrSchemaOld, 1, false},
		"current":        {[]engine.Applied{one, two}, nil, 0, false},
		"new":            {[]engine.Applied{one, two, three}, engine.ErrSchemaNew, -1, false},
		"new but kind":   {[]engine.Applied{one, two, kind}, nil, 0, true},
		"newer but kind": {[]engine.Applied{one, two, kind, four}, nil, 0, true},
		"kind after new": {[]engine.Applied{one, two, three, four}, engine.ErrSchemaNew, -1, false},
		"kind and a gap": {[]engine.Applied{one, two, four}, engine.ErrSchemaNew, -1, false},
		"changed":        {[]engine.Applied{{Version: 1, Checksum: "other"}, two}, engine.ErrSchemaChanged, -1, false},
		"changed, newer": {[]engine.Applied{{Version: 1, Checksum: "other"}, two, kind}, engine.ErrSchemaChanged, -1, false},
		"a gap":          {[]engine.Applied{two}, engine.ErrSchemaChanged, -1, false},
		"an odd version": {[]engine.Applied{{Version: 0, Checksum: "x"}, one}, engine.ErrSchemaChanged, -1, false},
		"a negative one": {[]engine.Applied{{Version: -7, Checksum: "x"}}, engine.ErrSchemaChanged, -1, false},
		"new and a gap":  {[]engine.Applied{three}, engine.ErrSchemaNew, -1, false},
	} {
		status := folder.Status(engine.Schema{Applied: c.have})
		if err := status.Err; !errors.Is(err, c.check) || c.check == nil && err != nil || status.Newer != c.newer {
			t.Errorf("%s: newer %v, %v", name, status.Newer, err)
		}
		pending, newer, err := engine.Pending(want, c.have)
		if (err != nil) != (c.pending < 0) || err == nil && (len(pending) != c.pending || newer != c.newer) {
			t.Errorf("%s: %d pending, newer %v, error %v", name, len(pending), newer, err)
		}
	}
}

// HealthTables is "health/tables".
type HealthTables struct{ engine.Changes }

// D-100, D-110: what looks for all tables takes them from the migrations.
func TestStatementsNameAllTables(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	folder, err := engine.Load(&engine.Source{Folders: []fs.FS{fstest.MapFS{
		"schema/0001_a.sql": file("CREATE TABLE pawl.a (id integer);\nCREATE TABLE pawl.b (\n  id integer);\n-- CREATE TABLE pawl.not\n"),
		"schema/0002_b.sql": file("DROP TABLE pawl.a;\nCREATE TABLE pawl.c (id integer);"),
		"health/tables.sql": file("SELECT column1 FROM (VALUES pawl.tables())"),
	}}, Operations: []engine.Operation{HealthTables{}}}, engine.Names{Prefix: "p_"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := folder.Statement(HealthTables{}).Text, `SELECT column1 FROM (VALUES ('"p_b"'), ('"p_c"'))`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
