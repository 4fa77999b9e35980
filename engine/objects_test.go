package engine_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/bravellian/pawl/engine"
)

// D-100: routines come before views, and a view behind those it reads.
func TestObjectsAreLoadedInOrder(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	files := fstest.MapFS{
		"views/a.sql":    file("CREATE VIEW pawl.a AS SELECT * FROM pawl.b"),
		"views/b.sql":    file("CREATE VIEW pawl.b AS SELECT * FROM pawl.c"),
		"views/c.sql":    file("CREATE VIEW pawl.c AS SELECT pawl.z()"),
		"routines/z.sql": file("CREATE OR REPLACE FUNCTION pawl.z() …"),
	}
	objects, err := engine.LoadObjects(files, engine.Names{Prefix: "p_"})
	if err != nil {
		t.Fatal(err)
	}
	order := ""
	for _, o := range objects {
		order += o.Name
	}
	if order != "zcba" || objects[0].Kind != engine.Routines || objects[1].SQL != `CREATE VIEW "p_c" AS SELECT "p_z"()` {
		t.Errorf("%s: %+v", order, objects)
	}
	files["views/c.sql"] = file("CREATE VIEW pawl.c AS SELECT * FROM pawl.a")
	if _, err := engine.LoadObjects(files, engine.Names{}); err == nil {
		t.Error("views in a circle were put in order")
	}
}

// D-100: what a database was given, against what this build has.
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
