package tsqltest_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

// D-502: each refusal is found by a text that a server would refuse so, and not in one that it takes.
func TestRefusals(t *testing.T) {
	texts := map[int]struct{ refused, taken []string }{
		10724: {[]string{
			"DELETE FROM pawl.t WITH (FORCESEEK) WHERE a = 1",
			"UPDATE pawl.t WITH (ROWLOCK, FORCESEEK (i (a))) SET b = 1 WHERE a = 1",
			"DELETE FROM pawl.t WITH (INDEX (i)) WHERE a = 1",
			"DELETE x FROM pawl.t x WITH (FORCESEEK (i (a))) WHERE x.a = 1",
			"UPDATE x SET b = 1 FROM pawl.t x WITH (INDEX (i)) WHERE x.a = 1",
		}, []string{"DELETE x FROM @p p INNER LOOP JOIN pawl.t x WITH (ROWLOCK, FORCESEEK) ON x.a = p.a", "SELECT x.a FROM pawl.t x WITH (FORCESEEK (i (a))) WHERE x.a = 1"}},
		1065: {[]string{"DELETE FROM pawl.t WITH (NOLOCK)", "UPDATE x SET a = 1 FROM pawl.t x WITH (READUNCOMMITTED)"}, []string{"DELETE x FROM pawl.t x INNER JOIN pawl.u y WITH (READUNCOMMITTED) ON y.a = x.a"}},
		1047: {[]string{"SELECT a FROM pawl.t WITH (HOLDLOCK, NOLOCK)", "SELECT a FROM pawl.t WITH (READCOMMITTEDLOCK, REPEATABLEREAD)"}, []string{"SELECT a FROM pawl.t WITH (UPDLOCK, HOLDLOCK, SERIALIZABLE)"}},
		650:  {[]string{"SELECT a FROM pawl.t WITH (READPAST, HOLDLOCK)", "SELECT a FROM pawl.t WITH (SERIALIZABLE, READPAST)"}, []string{"SELECT a FROM pawl.t WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK)"}},
		4104: {[]string{"DELETE FROM pawl.x_t WHERE NOT EXISTS (SELECT 1 FROM pawl.x_u u WHERE u.a = t.a)", "SELECT t.a FROM pawl.t x"},
			[]string{"DELETE FROM pawl.t OUTPUT deleted.a INTO @p WHERE t.a = 1", "SELECT x.value FROM OPENJSON(@p) x CROSS APPLY (VALUES (x.value)) y(v) WHERE y.v = 1", "SELECT t.a FROM pawl.t"}},
		11719: {[]string{"SELECT x.n FROM (SELECT NEXT VALUE FOR pawl.s AS n FROM pawl.t) x", "CREATE VIEW pawl.v AS SELECT NEXT VALUE FOR pawl.s AS n"}, []string{"UPDATE pawl.t SET a = NEXT VALUE FOR pawl.s"}},
		443:   {[]string{"CREATE FUNCTION pawl.f() RETURNS int AS BEGIN DECLARE @a int; SET @a = RAND(); RETURN @a; END", "CREATE FUNCTION pawl.f() RETURNS int AS BEGIN DELETE FROM pawl.t; RETURN 1; END"}, []string{"CREATE FUNCTION pawl.f() RETURNS int AS BEGIN DECLARE @t TABLE (a int); INSERT INTO @t (a) SELECT 1; RETURN 1; END"}},
		134:   {[]string{"DECLARE @a int; DECLARE @A TABLE (a int)", "CREATE PROCEDURE pawl.p @a int AS BEGIN DECLARE @a int; END"}, []string{"DECLARE @a int, @b int"}},
		195:   {[]string{"SELECT STRING_AGG(a, ',') FROM pawl.t", "SELECT value FROM GENERATE_SERIES(1, 2) s"}, []string{"SELECT CONCAT(a, 'x') FROM pawl.t"}},
		1204:  {[]string{"SELECT TOP (@p) a FROM pawl.t WITH (UPDLOCK)", "DELETE TOP (@p) FROM pawl.t", "IF @p > 5000 SET @p = 5000; DELETE TOP (@p) FROM pawl.t"}, []string{"IF @p > 1000 SET @p = 1000; DELETE TOP (@p) FROM pawl.t", "SELECT TOP (@p) a FROM pawl.t"}},
	}
	for _, r := range tsqltest.Refusals() {
		of := texts[r.Number]
		if len(of.refused) == 0 || len(of.taken) == 0 {
			t.Errorf("%d: no text", r.Number)
		}
		for _, text := range of.refused {
			if len(r.Find(parse(t, text))) == 0 {
				t.Errorf("%d is not found in %s", r.Number, text)
			}
		}
		for _, text := range of.taken {
			if found := r.Find(parse(t, text)); len(found) > 0 {
				t.Errorf("%d: %q in %s", r.Number, found, text)
			}
		}
	}
}

// D-500: what is used before it is created, and what nothing creates, is found.
func TestNames(t *testing.T) {
	names := tsqltest.Names{Schema: "pawl"}
	for _, c := range []struct{ text, missing string }{
		{"CREATE TABLE pawl.t (a int NOT NULL PRIMARY KEY)", ""},
		{"CREATE PROCEDURE pawl.p @l pawl.list READONLY AS BEGIN SELECT 1 AS a; END", "type list"},
		{"CREATE TYPE pawl.list AS TABLE (a int)", ""},
		{"CREATE PROCEDURE pawl.q AS BEGIN EXEC pawl.later; SELECT a FROM pawl.late_table; END", ""},
		{"CREATE PROCEDURE pawl.r AS BEGIN DECLARE @a int = pawl.f(1); END", "function f"},
		{"CREATE VIEW pawl.v AS SELECT w.a FROM pawl.w w", "table w"},
		{"CREATE FUNCTION pawl.g() RETURNS int AS BEGIN RETURN NEXT VALUE FOR pawl.s; END", "sequence s"},
		{"CREATE VIEW pawl.w AS SELECT t.a FROM pawl.t t, dbo.other o", ""},
	} {
		got := strings.Join(names.Add(parse(t, c.text)), "; ")
		if !strings.Contains(got, c.missing) || c.missing == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.text, got, c.missing)
		}
	}
	if got := names.Missing(parse(t, "EXEC pawl.later; EXEC pawl.q; SELECT a FROM pawl.t")); len(got) != 1 || !strings.Contains(got[0], "procedure later") {
		t.Errorf("%q", got)
	}
}
