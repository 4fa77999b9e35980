package tsqltest_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sqlc-dev/teesql/ast"

	"github.com/bravellian/pawl/sqlserver/internal/tsqltest"
)

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1": "",
		"DECLARE @t TABLE (a int); IF @n > 1000 SET @n = 1000; DELETE TOP (@n) t WITH (READPAST) OUTPUT deleted.a INTO @t FROM pawl.t t; SELECT IIF(1 = 1, TOP_, 2) FROM @t": "",
		"MERGE INTO pawl.t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET a = 1;":                                                                                         "MERGE",
		"IF 1 = 1 BEGIN WAITFOR DELAY '00:00:01' END":                                                                                                                        "WAITFOR",
		"CREATE OR ALTER VIEW pawl.v AS SELECT 1 AS a":                                                                                                                       "CREATE OR ALTER",
		"CREATE OR ALTER PROCEDURE pawl.p AS SELECT 1 AS a":                                                                                                                  "CREATE OR ALTER",
		"WITH c AS (SELECT a FROM pawl.t) DELETE FROM c":                                                                                                                     "c is no table",
		"WITH c AS (SELECT a FROM pawl.t) UPDATE x SET a = 1 FROM c x":                                                                                                       "c is no table",
		"WITH c AS (SELECT a FROM pawl.t) DELETE FROM pawl.t WHERE a IN (SELECT a FROM c)":                                                                                   "",
		"DELETE d FROM (SELECT TOP (3) a FROM pawl.t ORDER BY a) d":                                                                                                          "d is no table",
		"SELECT STRING_AGG(a, ',') FROM pawl.t":                                                                                                                              "STRING_AGG is newer",
		"SELECT trim(a) FROM pawl.t":                                                                                                                                         "TRIM is newer",
		"SELECT LTRIM(a), RTRIM(a) FROM pawl.t":                                                                                                                              "",
		"SELECT LTRIM(a, 'x') FROM pawl.t":                                                                                                                                   "LTRIM with a second argument is newer",
		"SELECT GREATEST(a, 1) FROM pawl.t":                                                                                                                                  "GREATEST is newer",
		"SELECT value FROM GENERATE_SERIES(1, 2) s":                                                                                                                          "GENERATE_SERIES is newer",
		"SELECT value FROM STRING_SPLIT('a', 'b', 1) s":                                                                                                                      "STRING_SPLIT with a third argument is newer",
		"SELECT a FROM OPENJSON(@n) WITH (a bigint '$.a') j":                                                                                                                 "",
		"SELECT 1 AS a FROM pawl.t WHERE a IS NOT DISTINCT FROM 5":                                                                                                           "IS DISTINCT FROM is newer",
		"SELECT TOP (1000) a FROM pawl.t":                                                                                                                                    "",
		"SELECT TOP (1001) a FROM pawl.t":                                                                                                                                    "TOP of 1001 rows",
		"SELECT TOP 5 PERCENT a FROM pawl.t":                                                                                                                                 "PERCENT",
		"SELECT TOP (@n + 1) a FROM pawl.t":                                                                                                                                  "",
		"SELECT TOP (2 * 700) a FROM pawl.t":                                                                                                                                 "TOP of neither",
		"SELECT CHARINDEX(@n COLLATE Latin1_General_100_BIN2, a) AS a FROM pawl.t WHERE a = @m COLLATE Latin1_General_100_BIN2 OR a LIKE N'%' COLLATE Latin1_General_100_BIN2": "@m is not declared",
		"SELECT x.delay FROM OPENJSON(@n) WITH (lo bigint, delay bigint) x":                                                                                                    "",
		"SELECT a FROM pawl.t WHERE a = @N AND b = @m":                                                                                                                         "@m is not declared",
		"SELECT a FROM pawl.t WHERE a = @N":                                                                                                                                    "@N, which is declared as @n",
		"CREATE PROCEDURE pawl.p @a int, @l pawl.list READONLY AS SELECT a FROM @l WHERE a = @a":                                                                               "",
		"EXEC sp_getapplock @Resource = N'pawl', @LockMode = 'Exclusive'":                                                                                                      "",
		"DECLARE @a int = 0; SELECT @a = @a + b FROM pawl.t":                                                                                                                   "@a is computed from itself",
		"DECLARE @a int = 0; SELECT @a += b FROM pawl.t":                                                                                                                       "@a is computed from itself",
		"DECLARE @a int = 0, @b int; SELECT @a = @b + c FROM pawl.t":                                                                                                           "",
		"DECLARE @a int = 0; SELECT @a = @a + 1":                                                                                                                               "",
		"EXEC sp_getapplock @Resource = @name":                                                                                                                                 "@name is not declared",
	} {
		got := strings.Join(tsqltest.Problems(parse(t, text), "n"), "; ")
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func parse(t *testing.T, text string) *ast.Script {
	t.Helper()
	script, err := tsqltest.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return script
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"SELECT a b c", "DELETE", "SELECT 1 )", "DELETE FROM t WITH (READPAST", "nonsense here"} {
		if script, err := tsqltest.Parse(text); err == nil {
			t.Errorf("%q was parsed: %q", text, tsqltest.Kinds(script))
		}
	}
}

func TestKinds(t *testing.T) {
	script, err := tsqltest.Parse("-- a comment\nIF EXISTS (SELECT 1 AS a FROM pawl.t) BEGIN DELETE pawl.t; INSERT INTO pawl.t (a) SELECT 1; END\nGO\nSELECT 2 AS b;\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(tsqltest.Kinds(script), " "); got != "If BeginEndBlock Delete Insert Select" {
		t.Error(got)
	}
}

func TestChanges(t *testing.T) {
	script, err := tsqltest.Parse(`
DELETE TOP (5) pawl.ready WITH (UPDLOCK, READPAST, ROWLOCK) OUTPUT deleted.a;
DELETE r FROM pawl.ready r WITH (READPAST) JOIN @x x ON x.a = r.a;
UPDATE pawl.claim SET a = 1;
INSERT INTO @x (a) SELECT a FROM pawl.ready WITH (NOLOCK);`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range tsqltest.Changes(script) {
		line := c.Kind + " " + c.Table + " " + strings.Join(c.Hints, ",")
		for word, is := range map[string]bool{" alias": c.Alias, " output": c.Output && c.Top} {
			if is {
				line += word
			}
		}
		got = append(got, line)
	}
	want := []string{"Delete ready READPAST,ROWLOCK,UPDLOCK output", "Delete ready READPAST alias", "Update claim ", "Insert @x "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if hinted := tsqltest.Hinted(script, "ready"); len(hinted) != 3 || len(hinted[0]) != 3 || hinted[2][0] != "NOLOCK" {
		t.Errorf("%q", hinted)
	}
}

func TestTables(t *testing.T) {
	script, err := tsqltest.Parse(`
CREATE TABLE pawl.a (id bigint NOT NULL PRIMARY KEY, n int);
CREATE TABLE pawl.b (id UNIQUEIDENTIFIER NOT NULL, at datetime2(7) NOT NULL, PRIMARY KEY CLUSTERED (at DESC, id));
CREATE TABLE pawl.c (id uniqueidentifier NOT NULL PRIMARY KEY NONCLUSTERED, n int NOT NULL, INDEX c CLUSTERED (n));
CREATE TABLE pawl.d (n int UNIQUE, INDEX c UNIQUE (n));`)
	if err != nil {
		t.Fatal(err)
	}
	want := []tsqltest.Table{
		{Name: "a", Clustered: []tsqltest.KeyColumn{{Name: "id", Type: "bigint"}}},
		{Name: "b", Clustered: []tsqltest.KeyColumn{{Name: "at", Type: "datetime2", Descending: true}, {Name: "id", Type: "uniqueidentifier"}}},
		{Name: "c", Clustered: []tsqltest.KeyColumn{{Name: "n", Type: "int"}}},
		{Name: "d"},
	}
	if got := tsqltest.Tables(script); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
