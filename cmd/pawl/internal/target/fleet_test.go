package target

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
)

func TestParseFleet(t *testing.T) {
	for _, c := range []struct{ where, want string }{
		{"dir:tenants", "dir:tenants/*.db"},
		{"dir:/var/lib/tenants/", "dir:/var/lib/tenants/*.db"},
		{"dir:tenants/eu-*.sqlite", "dir:tenants/eu-*.sqlite"},
		{"dir:*.sqlite", "dir:*.sqlite"},
		{"dir:.", "dir:./*.db"},
		{"dir:/", "dir:/*.db"},
		{"dir:odd[1]/", "dir:odd[1]/*.db"},
		{"list:stores.txt", "list:stores.txt"},
		{"table:sqlite:control.db", "table:sqlite:control.db"},
		{"table:postgres://u:secret@h/d", "table:postgres://u:xxxxx@h/d"},
	} {
		got, err := ParseFleet(c.where, "", engine.Names{})
		if err != nil || got.String() != c.want {
			t.Errorf("ParseFleet(%q) = %q, %v; want %q", c.where, got, err, c.want)
		}
	}
}

// D-813: an ADO.NET string stands in quotes.
func TestListIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stores")
	f, err := ParseFleet("list:"+file, "", engine.Names{Prefix: "all_", Schema: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want []fleet.Database
	}{
		{"", nil},
		{"# none\n\n  \n", nil},
		{"a sqlite:a.db\r\nb\tpostgres://h/d#1  # last", []fleet.Database{
			{Key: "a", URL: "sqlite:a.db", Prefix: "all_"},
			{Key: "b", URL: "postgres://h/d#1", Schema: "s", Prefix: "all_"},
		}},
		{"a sqlite:a.db - p_\nb postgres://h/d t", []fleet.Database{
			{Key: "a", URL: "sqlite:a.db", Prefix: "p_"},
			{Key: "b", URL: "postgres://h/d", Schema: "t", Prefix: "all_"},
		}},
		{"a 'Server=h;Database=d; User Id=u;Password=it''s #1' s # as .NET has it\n'b c' 'postgres://h/d' '-'", []fleet.Database{
			{Key: "a", URL: "sqlserver://u:it%27s%20%231@h?database=d", Schema: "s", Prefix: "all_"},
			{Key: "b c", URL: "postgres://h/d", Schema: "-", Prefix: "all_"},
		}},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Discover(t.Context()); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"postgres://u:secret@h/d", "a b c d secret", "a 'Server=h;Password=secret", "a 'Server=h;Password=it's secret'", "a Server=h;Password=a secret one", strings.Repeat("secret", 1<<16)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Discover(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
