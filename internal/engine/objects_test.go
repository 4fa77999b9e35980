package engine_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/bravellian/pawl/internal/engine"
)

// loadedObjects returns the objects of folders, the last of which has to hold a schema, too.
func loadedObjects(names engine.Names, folders ...fstest.MapFS) ([]engine.Object, error) {
	from := &engine.Source{}
	for _, f := range folders {
		from.Folders = append(from.Folders, f)
	}
	folders[len(folders)-1]["schema/0001_t.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE pawl.t (a integer)")}
	folder, err := engine.Load(from, names)
	if err != nil {
		return nil, err
	}
	return folder.Objects, nil
}

// D-100: routines come before views, and a view after those it reads.
func TestObjectsAreLoadedInOrder(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	files := fstest.MapFS{
		"views/a.sql":    file("CREATE VIEW pawl.a AS SELECT * FROM pawl.b"),
		"views/b.sql":    file("CREATE VIEW pawl.b AS SELECT * FROM pawl.c"),
		"views/c.sql":    file("CREATE VIEW pawl.c AS SELECT pawl.z()"),
		"routines/z.sql": file("CREATE OR REPLACE FUNCTION pawl.z() …"),
	}
	objects, err := loadedObjects(engine.Names{Prefix: "p_"}, files)
	if err != nil {
		t.Fatal(err)
	}
	order := ""
	for _, o := range objects {
		order += o.Name
	}
	if order != "zcba" || objects[0].Kind != engine.Routines || objects[1].Text != `CREATE VIEW pawl.c AS SELECT pawl.z()` {
		t.Errorf("%s: %+v", order, objects)
	}
	files["views/c.sql"] = file("CREATE VIEW pawl.c AS SELECT * FROM pawl.a")
	if _, err := loadedObjects(engine.Names{}, files); err == nil {
		t.Error("views in a circle were put in order")
	}
}

// D-100: a routine or view is applied again when a macro that it names has another text.
func TestObjectsHaveMacros(t *testing.T) {
	load := func(two string) engine.Object {
		t.Helper()
		objects, err := loadedObjects(engine.Names{},
			fstest.MapFS{"macros/two.sql": {Data: []byte("-- two(a)\n({a} + " + two + ")")}},
			fstest.MapFS{"views/v.sql": {Data: []byte("CREATE VIEW pawl.v AS SELECT pawl.two(0), pawl.three(1)")}})
		if err != nil || len(objects) != 1 {
			t.Fatal(objects, err)
		}
		return objects[0]
	}
	two := load("2")
	if want := `CREATE VIEW pawl.v AS SELECT (0 + 2), pawl.three(1)`; two.Text != want {
		t.Errorf("got %s, want %s", two.Text, want)
	}
	if load("2").Checksum != two.Checksum || load("3").Checksum == two.Checksum {
		t.Error("the checksum is not the macro's")
	}
}

// D-100: the objects that were applied to a database, against those of this build.
func TestObjectsAreCompared(t *testing.T) {
	want := []engine.Object{{Kind: engine.Routines, Name: "a", Checksum: "1"}, {Kind: engine.Views, Name: "a", Checksum: "2"}}
	have := []engine.AppliedObject{{Kind: engine.Routines, Name: "a", Checksum: "1"}, {Kind: engine.Views, Name: "a", Checksum: "old"}, {Kind: engine.Views, Name: "b", Checksum: "3"}}
	apply, drop := engine.PendingObjects(want, have)
	if len(apply) != 1 || apply[0].Kind != engine.Views || len(drop) != 1 || drop[0].Name != "b" {
		t.Errorf("to apply %v, to drop %v", apply, drop)
	}
	have[1].Checksum = "2"
	one := []engine.Applied{{Version: 1, Lowest: 1}}
	folder := &engine.Folder{Migrations: []engine.Migration{{Version: 1, Lowest: 1}}, Objects: want}
	if err := folder.Status(engine.Schema{Applied: one, Objects: have}).Err; !errors.Is(err, engine.ErrSchemaOld) {
		t.Errorf("one too many: %v", err)
	}
	if err := folder.Status(engine.Schema{Applied: one, Objects: have[:2]}).Err; err != nil {
		t.Error(err)
	}
	if err := folder.Status(engine.Schema{Applied: one, Objects: have[:1]}).Err; !errors.Is(err, engine.ErrSchemaOld) {
		t.Errorf("one too few: %v", err)
	}
	newer := append(one, engine.Applied{Version: 2, Lowest: 1})
	if plan, err := folder.Plan(engine.Schema{Applied: newer, Objects: have[:1]}); err != nil || !plan.Newer || len(plan.Apply)+len(plan.Drop) > 0 {
		t.Errorf("the routines of a newer program are not this one's: %+v, %v", plan, err)
	}
}
