package engine_test

import (
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// libraryOf returns a library, and what asks it for the SQL of an engine under names.
func libraryOf(t *testing.T) (l *engine.Library, folder func(of string, n engine.Names) *engine.Folder) {
	l = &engine.Library{}
	return l, func(of string, n engine.Names) *engine.Folder {
		t.Helper()
		f, err := l.Folder(of, n, func() (*engine.Texts, error) {
			return engine.Read(&engine.Source{Syntax: syntax, Folders: []fs.FS{fstest.MapFS{
				"schema/0001_t.sql": {Data: []byte("CREATE TABLE pawl.t (a integer)")}, "views/v.sql": {Data: []byte("CREATE VIEW pawl.v AS SELECT a FROM pawl.t")},
				"test/do.sql": {Data: []byte("SELECT " + all + " FROM pawl." + of)},
			}}, Operations: []engine.Operation{TestDo{}}, Go: of})
		})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
}

// D-261: databases under the same names have the same statements.
func TestLibraryIsShared(t *testing.T) {
	_, folder := libraryOf(t)
	a, again := folder("a", engine.Names{Schema: "s"}), folder("a", engine.Names{Schema: "s"})
	other, b := folder("a", engine.Names{Schema: "o"}), folder("b", engine.Names{Schema: "s"})
	if a != again || a.Statement(TestDo{}) != again.Statement(TestDo{}) {
		t.Error("two databases under the same names have their own statements")
	}
	if other == a || b == a || !strings.HasSuffix(other.Statement(TestDo{}).Text, `FROM "o"."a"`) || !strings.HasSuffix(b.Statement(TestDo{}).Text, `FROM "s"."b"`) || b.Go() != "b" {
		t.Errorf("other names and engines got %q and %q", other.Statement(TestDo{}).Text, b.Statement(TestDo{}).Text)
	}
	if _, err := (&engine.Library{}).Folder("a", engine.Names{Schema: "a b"}, func() (*engine.Texts, error) { return &engine.Texts{}, nil }); err == nil {
		t.Error("names that cannot be were taken")
	}
	runtime.KeepAlive(again)
}

// D-261: a library keeps nothing under names that no database has any more.
func TestLibraryForgets(t *testing.T) {
	l, folder := libraryOf(t)
	kept := folder("a", engine.Names{Schema: "kept"})
	for i := range 20 {
		folder("a", engine.Names{Schema: "left" + string(rune('a'+i))}).Statement(TestDo{})
	}
	for since := time.Now(); l.Names() > 1; runtime.GC() {
		if time.Since(since) > time.Minute {
			t.Fatalf("it keeps the SQL under %d names, of which one is used", l.Names())
		}
	}
	if again := folder("a", engine.Names{Schema: "kept"}); again != kept {
		t.Error("what is used was dropped")
	}
	runtime.KeepAlive(kept)
}

// D-261: a statement is rendered when it is first used, and the same from then on; migrations and objects are rendered where they are asked for.
func TestStatementsAreRenderedWhenUsed(t *testing.T) {
	_, folder := libraryOf(t)
	f := folder("a", engine.Names{Schema: "s"})
	text := strings.TrimSuffix(folder("a", engine.Names{Schema: "o"}).Statement(TestDo{}).Text, `"o"."a"`) + `"s"."a"`
	if f.Rendered(text) {
		t.Error("it was rendered before it was used")
	}
	s := f.Statement(TestDo{})
	if s.Text != text || !f.Rendered(text) || f.Statement(TestDo{}) != s || f.Statements()[0] != s {
		t.Errorf("%q is rendered as %q", text, s.Text)
	}
	script, err := f.Script(0, 0, engine.Dialect{
		Drop: func(engine.Object) string { return "" }, Note: func(engine.Migration) string { return "" }, Made: func(engine.Object) string { return "" },
	})
	if err != nil || !strings.Contains(script, `CREATE TABLE "s"."t"`) || !strings.Contains(script, `VIEW "s"."v" AS SELECT a FROM "s"."t"`) {
		t.Errorf("the script is %q, %v", script, err)
	}
}
