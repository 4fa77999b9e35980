package target

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ db, want string }{
		{"sqlite:pawl.db", "sqlite:pawl.db"},
		{"sqlite:///var/lib/x.db", "sqlite:/var/lib/x.db"},
		{"sqlite://x.db", "sqlite:x.db"},
		{"postgres://u@h:5432/d", "postgres://u@h:5432/d"},
		{"postgresql://u:secret@h/d?sslmode=require", "postgresql://u:xxxxx@h/d?sslmode=require"},
		{"postgres://h/d?password=secret", "postgres://h/d?password=xxxxx"},
	} {
		got, err := Parse(c.db, engine.Names{})
		if err != nil || got.String() != c.want {
			t.Errorf("Parse(%q) = %q, %v; want %q", c.db, got, err, c.want)
		}
	}
}

// A path's characters are themselves, and a URI's are not.
func TestFile(t *testing.T) {
	for db, want := range map[string]string{"sqlite:a?b.db": "a?b.db", "sqlite:/x/a#b%20.db": "/x/a#b%20.db", "sqlite:file:x.db?mode=ro": "x.db"} {
		got, err := Parse(db, engine.Names{})
		if file, ok := got.File(); err != nil || !ok || file != want {
			t.Errorf("%s is in %q, %v, %v", db, file, ok, err)
		}
	}
}

// D-5: a password never shows, however wrong the rest is.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ db, schema, want string }{
		{"", "", "no database"},
		{"pawl.db", "", "without a scheme"},
		{"mysql://u:secret@h/d", "", `unknown database scheme "mysql"`},
		{"host=h password=secret:x", "", "without a scheme"},
		{"postgres://u:secret%zz@h/d", "", "percent-encoded"},
		{"postgres://h/d?password=secret;x", "", "percent-encoded"},
		{"postgres://u:12/secret@h/d", "", "an @ behind the host"},
		{"postgres://u:top@secret@h/d", "", "more than one @"},
		{"sqlite://u:secret@h/d", "", "looks like a server's"},
		{"postgres:secret", "", `unknown database scheme "postgres"`},
		{"sqlite:", "", "no path"},
		{"sqlite:x.db", "other", "--prefix"},
		{"postgres://u:secret@h/d", "no-dash", "schema"},
	} {
		_, err := Parse(c.db, engine.Names{Schema: c.schema})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Parse(%q) = %v; want an error with %q", c.db, err, c.want)
		}
	}
}
