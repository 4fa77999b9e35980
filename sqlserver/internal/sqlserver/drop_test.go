package sqlserver_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// D-822: a schema is dropped with what is in it, in an order that the server takes, and what fails is tried again.
func TestDropSchema(t *testing.T) {
	text := tdstest.NVarChar(100)
	var dropped []string
	left := [][]any{{"VIEW", "outbox"}, {"TABLE", "outbox_ready"}, {"TYPE", "timer_list"}}
	w := onWire(t, func(r *tdstest.Request) tdstest.Answer {
		switch {
		case strings.Contains(r.SQL, "FROM sys.objects"):
			return tdstest.Answered(tdstest.Rows([]tdstest.Column{{Name: "what", Type: text}, {Name: "name", Type: text}}, left...))
		case strings.HasPrefix(r.SQL, "DROP") && len(dropped) == 1:
			dropped = append(dropped, "")
			return tdstest.Failed(3726, "referenced by a foreign key constraint")
		case strings.HasPrefix(r.SQL, "DROP") || strings.Contains(r.SQL, "DROP SCHEMA"):
			dropped = append(dropped, r.SQL)
			if len(dropped) == 3 {
				left = left[1:2]
			}
		}
		return tdstest.Answer{}
	}, func(o *wireOptions) { o.Schema = "scratch" })
	w.pool.SetMaxOpenConns(2)
	if err := w.DropSchema(t.Context(), access.Key{}); err != nil {
		t.Fatal(err)
	}
	want := `DROP VIEW "scratch"."outbox"||DROP TYPE "scratch"."timer_list"|DROP TABLE "scratch"."outbox_ready"`
	if got := strings.Join(dropped, "|"); !strings.HasPrefix(got, want) || !strings.Contains(dropped[len(dropped)-1], `DROP SCHEMA "scratch"`) {
		t.Error(got)
	}
}
