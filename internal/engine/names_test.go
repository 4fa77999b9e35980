package engine_test

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// D-101: names are plain identifiers of a length that is not truncated, and the error says
// which name is wrong.
func TestNamesAreValidated(t *testing.T) {
	long, longer := strings.Repeat("s", 63), strings.Repeat("s", 64)
	for _, c := range []struct {
		names engine.Names
		wrong string // the field, or "" if all is well
	}{
		{engine.Names{}, ""},
		{engine.Names{Schema: "pawl", Prefix: "a_"}, ""},
		{engine.Names{Schema: "Select", Prefix: "ORDER"}, ""},
		{engine.Names{Schema: "_", Prefix: "_9"}, ""},
		{engine.Names{Schema: long, Prefix: long[:32]}, ""},
		{engine.Names{Schema: longer}, "schema"},
		{engine.Names{Prefix: long[:33]}, "prefix"},
		{engine.Names{Schema: "9a"}, "schema"},
		{engine.Names{Prefix: "9"}, "prefix"},
		{engine.Names{Schema: "a b"}, "schema"},
		{engine.Names{Schema: "a.b"}, "schema"},
		{engine.Names{Schema: "a-b"}, "schema"},
		{engine.Names{Schema: " a"}, "schema"},
		{engine.Names{Schema: "a\n"}, "schema"},
		{engine.Names{Schema: "a\x00"}, "schema"},
		{engine.Names{Prefix: `a"; DROP TABLE users; --`}, "prefix"},
		{engine.Names{Prefix: "a'"}, "prefix"},
		{engine.Names{Prefix: "$1"}, "prefix"},
		{engine.Names{Prefix: "ä"}, "prefix"},
		{engine.Names{Prefix: "а"}, "prefix"}, // Cyrillic
		{engine.Names{Prefix: " "}, "prefix"},
	} {
		err := c.names.Validate()
		if c.wrong == "" {
			if err != nil {
				t.Errorf("%+v: %v", c.names, err)
			}
			continue
		}
		if !errors.Is(err, engine.ErrName) || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: %v", c.names, err)
		}
	}
}

// D-101: only references to pawl's own names are replaced, and they are quoted.
func TestRender(t *testing.T) {
	named := engine.Names{Schema: "S", Prefix: "p_"}
	for text, want := range map[string]string{
		"SELECT 1":                          "SELECT 1",
		"FROM pawl.outbox_ready r":          `FROM "S"."p_outbox_ready" r`,
		"pawl.a,pawl.b":                     `"S"."p_a","S"."p_b"`,
		"'pawl.outbox_wake/' || q":          `'"S"."p_outbox_wake"/' || q`,
		"nextval('pawl.outbox_block')":      `nextval('"S"."p_outbox_block"')`,
		"spawl.outbox pawl.Outbox pawl . x": "spawl.outbox pawl.Outbox pawl . x",
	} {
		if got := named.Render(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got := (engine.Names{Prefix: "p_"}).Render("FROM pawl.t"); got != `FROM "p_t"` {
		t.Errorf("without a schema: %s", got)
	}
	if a, b := (engine.Names{Schema: "a", Prefix: "b"}).Key(), (engine.Names{Schema: "ab"}).Key(); a == b {
		t.Errorf("%q stands for two names", a)
	}
}

// texts are all .sql files of both engines.
func texts(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"../sql/sqlite/anydriver", "../sql/postgres", "op"} {
		err := fs.WalkDir(os.DirFS(name), ".", func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".sql") {
				return err
			}
			text, err := os.ReadFile(name + "/" + path)
			all[name+"/"+path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 20 {
		t.Fatalf("found only %d files", len(all))
	}
	return all
}

var reference = regexp.MustCompile(`\bpawl\.([a-z_][a-z0-9_]*)`)

// FuzzNames: a valid name changes no text beyond the references to pawl's own tables and
// routines, and none of those becomes too long.
//
// D-101: a valid name never breaks out of its quotes.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"", "pawl", "select", "Table", "_", strings.Repeat("x", 32), strings.Repeat("y", 63), `a"b`, "a'b", "a;b", "a.b", "$f$", "--", "ä", "1"} {
		f.Add(s, s)
		f.Add("pawl", s)
	}
	files := texts(f)
	f.Fuzz(func(t *testing.T, schema, prefix string) {
		n := engine.Names{Schema: schema, Prefix: prefix}
		if n.Validate() != nil {
			return
		}
		if strings.ContainsAny(schema+prefix, "\"'`\\$;- \t\r\n\x00./*") {
			t.Fatalf("valid: %+q", n)
		}
		for name, text := range files {
			var want strings.Builder
			rest := text
			for _, at := range reference.FindAllStringSubmatchIndex(text, -1) {
				own := text[at[2]:at[3]]
				if len(prefix+own) > 63 {
					t.Fatalf("%s: %q is longer than an identifier may be", name, prefix+own)
				}
				want.WriteString(rest[:at[0]-(len(text)-len(rest))])
				if schema != "" {
					want.WriteString(`"` + schema + `".`)
				}
				want.WriteString(`"` + prefix + own + `"`)
				rest = text[at[1]:]
			}
			want.WriteString(rest)
			if n.Render(text) != want.String() {
				t.Fatalf("%s under %+v is not the same text with other names", name, n)
			}
		}
	})
}

// OBX-112, D-100: every operation of both engines is loaded, without its header, and the
// folder of migrations is no operation.
func TestOperationsAreLoaded(t *testing.T) {
	for _, name := range []string{"../sql/sqlite/anydriver", "../sql/postgres"} {
		folder, err := engine.Load(&engine.Source{Folders: []fs.FS{op.Statements, os.DirFS(name)}}, engine.Names{})
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range folder.Unbound() {
			if strings.HasPrefix(op, "schema/") || strings.HasPrefix(op, "macros/") || strings.HasPrefix(op, "routines/") {
				t.Errorf("%s: %s is an operation", name, op)
			}
		}
		if !slices.Contains(folder.Unbound(), "outbox/get") {
			t.Errorf("%s: outbox/get is missing", name)
		}
	}
}

// What Render replaces is what this expression says, in any text.
func FuzzRender(f *testing.F) {
	reference := regexp.MustCompile(`\bpawl\.([a-z_][a-z0-9_]*)\b`)
	for _, text := range []string{"pawl.a", "SELECT pawl.outbox_ready, xpawl.a, pawl.A, pawl.aB, pawl.1, pawl.a1é pawl.pawl.a 'pawl.x/' pawl.", "_pawl.a -pawl._ pawl.a.b", "\xffpawl.a\xff"} {
		f.Add(text)
	}
	names := engine.Names{Schema: "s", Prefix: "p_"}
	f.Fuzz(func(t *testing.T, text string) {
		want := reference.ReplaceAllStringFunc(text, func(ref string) string { return names.Quote(strings.TrimPrefix(ref, "pawl.")) })
		if got := names.Render(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	})
}
