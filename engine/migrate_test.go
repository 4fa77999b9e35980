package engine_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bravellian/pawl/engine"
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
	all, err := engine.LoadMigrations(migrations("0002_b.sql", "0001_a.sql", "0003_c_d.sql"), engine.Names{Prefix: "p_"})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "b", "c_d"} {
		if all[i].Version != i+1 || all[i].Name != name || !strings.Contains(all[i].SQL, `"p_`) {
			t.Errorf("%d: %+v", i, all[i])
		}
	}
	other, err := engine.LoadMigrations(migrations("0001_a.sql"), engine.Names{Prefix: "q_"})
	if err != nil || other[0].Checksum != all[0].Checksum {
		t.Errorf("the checksum depends on the names: %v", err)
	}
	for name, files := range map[string]fstest.MapFS{
		"a gap":     migrations("0001_a.sql", "0003_c.sql"),
		"no first":  migrations("0002_b.sql"),
		"twice":     migrations("0001_a.sql", "0001_b.sql"),
		"a stray":   migrations("0001_a.sql", "notes.txt"),
		"short":     migrations("001_a.sql"),
		"no folder": {},
	} {
		if _, err := engine.LoadMigrations(files, engine.Names{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// D-100: what a database has, against what this build wants.
func TestSchemaIsJudged(t *testing.T) {
	want := []engine.Migration{{Version: 1, Name: "a", Checksum: "x"}, {Version: 2, Name: "b", Checksum: "y"}}
	one, two, three := engine.Applied{Version: 1, Checksum: "x"}, engine.Applied{Version: 2, Checksum: "y"}, engine.Applied{Version: 3, Checksum: "z"}
	for name, c := range map[string]struct {
		have    []engine.Applied
		check   error
		pending int // -1: an error
	}{
		"nothing":        {nil, engine.ErrSchemaMissing, 2},
		"old":            {[]engine.Applied{one}, engine.ErrSchemaOld, 1},
		"current":        {[]engine.Applied{one, two}, nil, 0},
		"new":            {[]engine.Applied{one, two, three}, engine.ErrSchemaNew, -1},
		"changed":        {[]engine.Applied{{Version: 1, Checksum: "other"}, two}, engine.ErrSchemaChanged, -1},
		"a gap":          {[]engine.Applied{two}, engine.ErrSchemaChanged, -1},
		"an odd version": {[]engine.Applied{{Version: 0, Checksum: "x"}, one}, engine.ErrSchemaChanged, -1},
		"a negative one": {[]engine.Applied{{Version: -7, Checksum: "x"}}, engine.ErrSchemaChanged, -1},
		"new and a gap":  {[]engine.Applied{three}, engine.ErrSchemaNew, -1},
	} {
		if err := engine.Check(want, c.have); !errors.Is(err, c.check) || c.check == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		pending, err := engine.Pending(want, c.have)
		if (err != nil) != (c.pending < 0) || err == nil && len(pending) != c.pending {
			t.Errorf("%s: %d pending, error %v", name, len(pending), err)
		}
	}
}
