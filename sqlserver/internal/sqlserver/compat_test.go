package sqlserver

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// D-814: compat/origin.sql has the procedures and tables that the origin has, and uses of pawl what there is: macros are none.
func TestOriginCompat(t *testing.T) {
	file, err := os.ReadFile("../../compat/origin.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	f, err := engine.Load(folder(), engine.Names{Schema: "pawl"})
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]string{}
	for _, o := range f.Objects {
		objects[o.Name] = o.Text
	}
	for _, m := range f.Migrations {
		for _, name := range regexp.MustCompile(`CREATE TABLE pawl\.(\w+)`).FindAllStringSubmatch(m.Text, -1) {
			objects[name[1]] = m.Text
		}
	}
	for _, name := range regexp.MustCompile(`(?m)^[^-\n].*pawl\.(\w+)`).FindAllStringSubmatch(text, -1) {
		if objects[name[1]] == "" {
			t.Errorf("there is no pawl.%s", name[1])
		}
	}
	for _, table := range []string{"Outbox", "Timers", "JobRuns"} {
		for _, verb := range []string{"Claim", "Ack", "Abandon", "Fail", "ReapExpired"} {
			if !strings.Contains(text, "CREATE PROCEDURE dbo."+table+"_"+verb+" ") {
				t.Errorf("there is no dbo.%s_%s", table, verb)
			}
		}
	}
	// Every column of a view is one of pawl's view of the same rows.
	columns := regexp.MustCompile(`\b([a-z])\.([a-z_]+)\b`)
	for _, view := range regexp.MustCompile(`(?s)CREATE VIEW dbo\.(\w+) AS\n(.*?FROM pawl\.(\w+) ([a-z]));`).FindAllStringSubmatch(text, -1) {
		for _, c := range columns.FindAllStringSubmatch(view[2], -1) {
			has := regexp.MustCompile(`(?m)(AS|\.) ?` + c[2] + `\b`)
			if c[1] == view[4] && !has.MatchString(objects[view[3]]) {
				t.Errorf("dbo.%s: pawl.%s has no column %s", view[1], view[3], c[2])
			}
		}
	}
}
