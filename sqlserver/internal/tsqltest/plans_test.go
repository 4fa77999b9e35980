package tsqltest_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

// D-824: a query that sorts what it joined to a variable is found, and one whose rows are in order is not.
func TestSorts(t *testing.T) {
	const runs = "DECLARE @r TABLE (nr int NOT NULL, lo bigint NOT NULL, n bigint NOT NULL, PRIMARY KEY (nr, lo)); DECLARE @g TABLE (nr int NOT NULL PRIMARY KEY); "
	for text, want := range map[string]string{
		"SELECT m.payload FROM @r r INNER LOOP JOIN pawl.big m ON m.id >= r.lo ORDER BY r.nr, r.lo, m.id":                                 "",
		"SELECT m.payload FROM @r r INNER LOOP JOIN pawl.big m ON m.id >= r.lo ORDER BY r.nr":                                             "",
		"SELECT m.payload FROM @r r INNER LOOP JOIN pawl.big m ON m.id >= r.lo ORDER BY r.lo, m.id":                                       "lo is not column 1",
		"SELECT m.payload FROM @r r INNER LOOP JOIN pawl.big m ON m.id >= r.lo ORDER BY r.nr, r.lo, m.due":                                "due is behind the key",
		"SELECT m.payload FROM @r r INNER LOOP JOIN pawl.big m ON m.id >= r.lo ORDER BY r.nr DESC":                                        "ascending",
		"SELECT m.payload FROM @r r INNER JOIN pawl.big m ON m.id >= r.lo ORDER BY r.nr":                                                  "no LOOP",
		"SELECT m.payload FROM @r r INNER JOIN @g g ON g.nr = r.nr INNER LOOP JOIN pawl.big m ON m.id = r.lo ORDER BY r.nr":               "",
		"SELECT m.a FROM @r r INNER LOOP JOIN pawl.big m ON m.id >= r.lo ORDER BY m.b":                                                    "",
		"SELECT m.payload FROM @r r INNER LOOP JOIN pawl.big m ON m.id >= r.lo":                                                           "",
		"DECLARE @h TABLE (id int); SELECT m.payload FROM @h h INNER LOOP JOIN pawl.big m ON m.id = h.id ORDER BY m.id":                   "has no key",
		"SELECT m.payload FROM pawl.big m WHERE m.id IN (SELECT r.lo FROM @r r) ORDER BY m.b":                                             "",
		"SELECT m.payload FROM OPENJSON(@ids) WITH (id bigint) x INNER LOOP JOIN pawl.big m ON m.id = x.id INNER JOIN @g g ON g.nr = m.n": "",
		"SELECT m.payload FROM OPENJSON(@ids) WITH (id bigint) x INNER LOOP JOIN pawl.big m ON m.id = x.id ORDER BY m.id":                 "OPENJSON has no order",
	} {
		got := strings.Join(tsqltest.Sorts(parse(t, runs+text)), "; ")
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
