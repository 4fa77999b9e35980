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
		{"pawl.db", "sqlite:pawl.db"},
		{"../data/pawl", "sqlite:../data/pawl"},
		{`C:\pawl.db`, `sqlite:C:\pawl.db`},
		{"file:x.db?mode=ro", "sqlite:file:x.db?mode=ro"},
		{"host=h dbname=d user=u password=secret", "postgres://h/d"},
		{"password = 'a secret' host=h port=5433 dbname=d", "postgres://h:5433/d"},
		{"host=/run/postgresql dbname=d password=secret", "postgres:///d?host=/run/postgresql"},
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
		{"name=pawl.db", "", "unknown setting of PostgreSQL"},
		{"u:secret@h/d", "", `unknown database scheme "u"`},
		{"u-1:secret@h", "", "unknown database scheme"},
		{"u_1:secret@h", "", "looks like a server's"},
		{"host=h password=secret host=x", "", "twice"},
		{"host=u:secret@h", "", "the host has an @"},
		{"mysql://u:secret@h/d", "", `unknown database scheme "mysql"`},
		{"://u:secret@h", "", `without a scheme`},
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

// D-5: a store has the URL that the engines of a fleet take.
func TestParseURL(t *testing.T) {
	for _, db := range []string{"pawl.db", "file:x.db", "host=h password=secret", ""} {
		if _, err := ParseURL(db, engine.Names{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseURL(%q): %v", db, err)
		}
	}
}
