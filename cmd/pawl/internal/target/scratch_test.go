package target

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// D-823: what says where a database is and who uses it is taken out, as a word.
func TestHide(t *testing.T) {
	const password = "p4ss w0rd"
	for db, text := range map[string]string{
		"sqlserver://clerk:p4ss%20w0rd@db7.example.org:1433/inst?database=payroll":   `clerk@db7.example.org:1433: Cannot open database "payroll" of inst by "p4ss w0rd"`,
		"postgres://clerk:p4ss%20w0rd@db7.example.org/payroll":                       `user clerk of db7.example.org, database "payroll", p4ss w0rd`,
		"host=db7.example.org user=clerk dbname=payroll password='p4ss w0rd'":        `user=clerk db7.example.org payroll p4ss w0rd`,
		"sqlite:/srv/db7.example.org/payroll.db":                                     `/srv/db7.example.org/payroll.db: payroll.db in /srv/db7.example.org`,
		"sqlserver://clerk@db7.example.org?database=payroll&failoverpartner=db8.org": `clerk db7.example.org payroll db8.org`,
	} {
		target, err := Parse(db, engine.Names{})
		if err != nil {
			t.Fatal(err)
		}
		got := target.Hide(text)
		for _, name := range []string{"clerk", "db7", "db8", "payroll", "inst", password} {
			if strings.Contains(got, name) {
				t.Errorf("%s: %s", db, got)
			}
		}
	}
	target, _ := Parse("sqlserver://sa@host?database=a", engine.Names{})
	if got := target.Hide("a claim, said: sample"); got != "… claim, said: sample" {
		t.Errorf("%q", got)
	}
}

// D-822: a test has a file beside SQLite's, or a schema, and no prefix; only what it made is removed.
func TestScratch(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := Parse(file, engine.Names{Prefix: "p_"})
	if err != nil {
		t.Fatal(err)
	}
	own := target.Scratch("evidence")
	db, err := own.Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if err := own.RemoveScratch(context.Background()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "shop.db" {
		t.Errorf("%v %v", entries, err)
	}
	server, err := Parse("sqlserver://sa@host?database=a", engine.Names{Schema: "pawl", Prefix: "p_"})
	if own := server.Scratch("evidence"); err != nil || own.names != (engine.Names{Schema: "evidence"}) {
		t.Errorf("%+v, %v", own.names, err)
	}
}
