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
		332:   {[]string{"DELETE FROM pawl.t OUTPUT deleted.a INTO pawl.u (a)"}, []string{"DECLARE @p TABLE (a int); DELETE FROM pawl.t OUTPUT deleted.a INTO @p (a)"}},
		10705: {[]string{"DELETE FROM pawl.t OUTPUT (SELECT MAX(u.a) FROM pawl.u u)"}, []string{"DELETE FROM pawl.t OUTPUT deleted.a WHERE a IN (SELECT u.a FROM pawl.u u)"}},
		345:   {[]string{"DELETE FROM pawl.t OUTPUT pawl.f(deleted.a)"}, []string{"DELETE FROM pawl.t OUTPUT CONCAT(deleted.a, 'x') WHERE a = pawl.f(1)"}},
		158:   {[]string{"DELETE FROM pawl.t OUTPUT MAX(deleted.a)"}, []string{"DELETE FROM pawl.t OUTPUT deleted.a"}},
		352:   {[]string{"CREATE PROCEDURE pawl.p @l pawl.list AS BEGIN SELECT 1 AS a; END"}, []string{"CREATE PROCEDURE pawl.p @l pawl.list READONLY, @n int AS BEGIN SELECT 1 AS a; END"}},
		10700: {[]string{"CREATE PROCEDURE pawl.p @l pawl.list READONLY AS BEGIN DELETE FROM @l; END"}, []string{"CREATE PROCEDURE pawl.p @l pawl.list READONLY AS BEGIN DELETE FROM pawl.t WHERE a IN (SELECT x.a FROM @l x); END"}},
		10735: {[]string{"CREATE INDEX i ON pawl.t (a) WHERE a > 0 OR b IS NULL", "CREATE INDEX i ON pawl.t (a) WHERE a < b", "CREATE TABLE pawl.t (a int, INDEX i (a) WHERE LEN(a) > 3)", "CREATE INDEX i ON pawl.t (a) WHERE a NOT IN (1, 2)"},
			[]string{"CREATE INDEX i ON pawl.t (a) WHERE a > 0 AND b IS NOT NULL", "CREATE TABLE pawl.t (a int, INDEX i (a) WHERE a IN (1, 2))"}},
		1934: {[]string{"SET QUOTED_IDENTIFIER OFF", "SET ANSI_NULLS, ANSI_PADDING OFF", "SET NUMERIC_ROUNDABORT ON"}, []string{"SET NOCOUNT ON; SET XACT_ABORT OFF", "SET ANSI_NULLS ON"}},
		8164: {[]string{"INSERT INTO @t (a) EXEC pawl.p"}, []string{"INSERT INTO @t (a) SELECT 1"}},
		4108: {[]string{"SELECT a FROM pawl.t WHERE ROW_NUMBER() OVER (ORDER BY a) = 1", "SELECT x.a FROM pawl.t x INNER JOIN pawl.u y ON SUM(x.a) OVER (ORDER BY x.a) = y.a"},
			[]string{"SELECT a FROM pawl.t WHERE a IN (SELECT y.a FROM (SELECT a, ROW_NUMBER() OVER (ORDER BY a) AS n FROM pawl.t) y WHERE y.n = 1) ORDER BY ROW_NUMBER() OVER (ORDER BY a)"}},
		147: {[]string{"SELECT a FROM pawl.t WHERE MAX(a) = 1"}, []string{"SELECT a FROM pawl.t WHERE a = (SELECT MAX(a) FROM pawl.t) GROUP BY a HAVING MAX(b) = 1"}},
		130: {[]string{"SELECT SUM((SELECT 1)) FROM pawl.t", "SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM pawl.u) THEN 1 ELSE 0 END) FROM pawl.t", "SELECT MAX(COUNT(*)) FROM pawl.t", "SELECT SUM(CASE WHEN a IN (SELECT b FROM pawl.u) THEN 1 END) FROM pawl.t"},
			[]string{"SELECT SUM(SUM(a)) OVER (ORDER BY b) FROM pawl.t GROUP BY b", "SELECT SUM(CASE WHEN a IN (1, 2) THEN 1 END), (SELECT MAX(b) FROM pawl.u) FROM pawl.t"}},
		141:   {[]string{"SELECT @a = a, b FROM pawl.t"}, []string{"SELECT @a = a, @b = b FROM pawl.t"}},
		1033:  {[]string{"SELECT x.a FROM (SELECT a FROM pawl.t ORDER BY a) x", "CREATE VIEW pawl.v AS SELECT a FROM pawl.t ORDER BY a", "SELECT a FROM pawl.t WHERE a IN (SELECT b FROM pawl.u ORDER BY b)"}, []string{"SELECT x.a FROM (SELECT TOP (1) a FROM pawl.t ORDER BY a) x ORDER BY x.a", "SELECT (SELECT a FROM pawl.t ORDER BY a FOR JSON PATH) AS j"}},
		10741: {[]string{"SELECT TOP (1) a FROM pawl.t ORDER BY a OFFSET 1 ROWS"}, []string{"SELECT a FROM pawl.t ORDER BY a OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY"}},
		8155:  {[]string{"SELECT x.a FROM (SELECT a, MAX(b) FROM pawl.t GROUP BY a) x", "CREATE VIEW pawl.v AS SELECT 1", "WITH c AS (SELECT a + 1 FROM pawl.t) SELECT * FROM c"}, []string{"SELECT x.a FROM (SELECT a + 1 FROM pawl.t) x(a)", "SELECT x.a FROM (SELECT t.a, MAX(b) AS b FROM pawl.t t GROUP BY a) x", "SELECT MAX(a) FROM pawl.t"}},
		13605: {[]string{"SELECT a, MAX(b) FROM pawl.t GROUP BY a FOR JSON PATH"}, []string{"SELECT a, MAX(b) AS b FROM pawl.t GROUP BY a FOR JSON PATH"}},
		13601: {[]string{"SELECT t.a, u.a FROM pawl.t t, pawl.u u FOR JSON PATH"}, []string{"SELECT t.a, u.a AS b FROM pawl.t t, pawl.u u FOR JSON PATH"}},
		11720: {[]string{"DELETE FROM pawl.t WHERE a = NEXT VALUE FOR pawl.s", "SELECT a FROM pawl.t ORDER BY NEXT VALUE FOR pawl.s"}, []string{"INSERT INTO pawl.t (a) VALUES (NEXT VALUE FOR pawl.s)"}},
		11721: {[]string{"SELECT DISTINCT NEXT VALUE FOR pawl.s AS n FROM pawl.t", "SELECT NEXT VALUE FOR pawl.s AS n UNION ALL SELECT 1"}, []string{"SELECT NEXT VALUE FOR pawl.s AS n FROM pawl.t"}},
		11723: {[]string{"INSERT INTO pawl.t (a) SELECT NEXT VALUE FOR pawl.s FROM pawl.u ORDER BY a"}, []string{"SELECT NEXT VALUE FOR pawl.s OVER (ORDER BY a) AS n FROM pawl.t ORDER BY a", "SELECT a FROM pawl.t ORDER BY a"}},
		11739: {[]string{"SELECT TOP (1) NEXT VALUE FOR pawl.s AS n FROM pawl.t"}, []string{"SELECT NEXT VALUE FOR pawl.s AS n FROM (SELECT TOP (1) a FROM pawl.t) x"}},
		11741: {[]string{"SET @a = CASE WHEN @b = 1 THEN NEXT VALUE FOR pawl.s ELSE 0 END", "SET @a = COALESCE(@a, NEXT VALUE FOR pawl.s)", "SET @a = ISNULL(@a, NEXT VALUE FOR pawl.s)"}, []string{"IF @b = 1 SET @a = NEXT VALUE FOR pawl.s"}},
		137:   {[]string{"DECLARE @a int; SET @A = 1", "CREATE PROCEDURE pawl.p @Topic int AS BEGIN SELECT @topic AS a; END"}, []string{"DECLARE @a int; EXEC pawl.p @A = @a"}},
		102:   {[]string{"EXEC pawl.p @n = LEN(@a)", "EXEC pawl.p (@a)"}, []string{"EXEC @r = pawl.p @a, 1, N'x', @n = @b OUTPUT"}},
		111:   {[]string{"SELECT 1 AS a; CREATE PROCEDURE pawl.p AS SELECT 1 AS a", "DROP VIEW pawl.v; CREATE VIEW pawl.v AS SELECT 1 AS a"}, []string{"SELECT 1 AS a\nGO\nCREATE PROCEDURE pawl.p AS SELECT 1 AS a"}},
		214:   {[]string{"EXEC sys.sp_executesql 'SELECT 1'"}, []string{"EXEC sys.sp_executesql N'SELECT 1', N'@a int', @p1"}},
		10704: {[]string{"THROW;"}, []string{"BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH THROW; END CATCH", "THROW 57110, N'no', 1;"}},
		35100: {[]string{"THROW 2627, N'no', 1;"}, []string{"THROW 57110, N'no', 1;"}},
		2787:  {[]string{"THROW 57110, N'100% no', 1;"}, []string{"THROW 57110, N'100%% no', 1;"}},
		3930:  {[]string{"BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH INSERT INTO pawl.t (a) SELECT 1; END CATCH", "BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH COMMIT TRANSACTION; END CATCH"}, []string{"BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH IF XACT_STATE() = 1 INSERT INTO pawl.t (a) SELECT 1; END CATCH", "BEGIN TRY DELETE FROM pawl.t; END TRY BEGIN CATCH SET @a = 1; END CATCH"}},
		266:   {[]string{"CREATE PROCEDURE pawl.p AS BEGIN BEGIN TRANSACTION; END"}, []string{"CREATE PROCEDURE pawl.p AS BEGIN IF @own = 1 BEGIN TRANSACTION; IF @own = 1 COMMIT TRANSACTION; END"}},
		3951:  {[]string{"SET TRANSACTION ISOLATION LEVEL SNAPSHOT"}, []string{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED"}},
		201: {[]string{"EXEC sp_getapplock @resource = N'a', @LockMode = N'Exclusive'", "EXEC sys.sp_getapplock @Resource = N'a', @LockMode = N'X'", "EXEC sp_getapplock @Resource = N'a', @LockOwner = N'Batch'"},
			[]string{"EXEC @r = sys.sp_getapplock @Resource = @p1, @LockMode = N'Shared', @LockOwner = N'Transaction', @LockTimeout = 0"}},
	}
	seen := map[int]bool{}
	for _, r := range tsqltest.Refusals() {
		if seen[r.Number] {
			t.Errorf("%d stands twice", r.Number)
		}
		seen[r.Number] = true
		of := texts[r.Number]
		if len(of.refused) == 0 || len(of.taken) == 0 {
			t.Errorf("%d: no text", r.Number)
		}
		if r.Source == "" || r.Says == "" {
			t.Errorf("%d: no page of the documentation", r.Number)
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
