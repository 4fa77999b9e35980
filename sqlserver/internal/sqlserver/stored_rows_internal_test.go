package sqlserver

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/bravellian/pawl/internal/engine"
)

// D-316: pages of any size have every row once, in the order of one page of all, also where keys differ
// in spaces at their end alone, which = does not see. SQLite runs the statements, with a collation like
// SQL Server's.
func TestPagesHaveEveryRowOnce(t *testing.T) {
	names := []string{"", "a", "a ", "a  ", "aa", "b ", "b", "ä", "z"}
	some := func() string { return names[rand.N(len(names))] }
	for _, c := range []struct {
		table *engine.Table
		size  string
		row   func() []any
	}{
		{&engine.Table{Name: "lease", Key: []string{"name"}, Columns: []engine.Column{{Name: "name", Kind: engine.Text}}}, "size AS (2 * length(name))", func() []any { return []any{some()} }},
		{&engine.Table{Name: "inbox", Key: []string{"source", "message_id"}, Columns: []engine.Column{{Name: "source", Kind: engine.Text}, {Name: "message_id", Kind: engine.Text}}},
			"sizes AS (2 * length(source) * 2048 + 2 * length(message_id))", func() []any { return []any{some(), some()} }},
		{&engine.Table{Name: "outbox_attempt", Key: []string{"id", "nr"}, Columns: []engine.Column{{Name: "id"}, {Name: "nr"}}}, "", func() []any { return []any{int64(rand.N(5)), int64(rand.N(5))} }},
		{&engine.Table{Name: "outbox_message", Key: []string{"id"}, Columns: []engine.Column{{Name: "id"}}}, "", func() []any { return []any{int64(rand.N(50))} }},
	} {
		pool, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		pool.SetMaxOpenConns(1)
		var columns, places []string
		for _, col := range c.table.Columns {
			columns, places = append(columns, quoteColumn(col.Name)+map[engine.Kind]string{engine.Int: " INTEGER", engine.Text: " TEXT COLLATE RTRIM"}[col.Kind]), append(places, "?")
		}
		if c.size != "" {
			columns = append(columns, c.size)
		}
		exec := func(text string, args ...any) {
			t.Helper()
			if _, err := pool.ExecContext(t.Context(), text, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec("CREATE TABLE " + c.table.Name + " (" + strings.Join(columns, ", ") + ")")
		seen := map[string]bool{}
		for range 60 {
			if row := c.row(); !seen[fmt.Sprintf("%q", row)] {
				seen[fmt.Sprintf("%q", row)] = true
				exec("INSERT INTO "+c.table.Name+" VALUES ("+strings.Join(places, ", ")+")", row...)
			}
		}
		s := &stored{c.table, c.table.Name, engine.Names{}}
		page := func(above []any, n int) (all [][]any) {
			t.Helper()
			rows, err := pool.QueryContext(t.Context(), inSQLite(s, above != nil), append([]any{n}, above...)...)
			if err != nil {
				t.Fatalf("%v in %s", err, inSQLite(s, above != nil))
			}
			defer rows.Close()
			all, err = s.collect(rows)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		want := page(nil, 1000)
		if len(want) != len(seen) {
			t.Fatalf("%s has %d rows, want %d", c.table.Name, len(want), len(seen))
		}
		for n := 1; n <= 8; n++ {
			var got [][]any
			for above := []any(nil); ; {
				rows := page(above, n)
				got = append(got, rows...)
				if len(rows) < n || len(got) > len(want) {
					break
				}
				above = s.KeyOf(rows[len(rows)-1])
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%s by %d:\n%q\nwant\n%q", c.table.Name, n, got, want)
			}
		}
	}
}

var listed = regexp.MustCompile(`OPENJSON\(@p1\) WITH \((.*?(?:"|\)|bigint|bit|max|uniqueidentifier|\(7\)))\) j`)

// listInSQLite is a statement that reads a list, in SQLite's words.
func listInSQLite(text string) string {
	text = listed.ReplaceAllStringFunc(text, func(list string) string {
		var columns []string
		for part := range strings.SplitSeq(listed.FindStringSubmatch(list)[1], ", ") {
			name, _, _ := strings.Cut(part, " ")
			columns = append(columns, fmt.Sprintf(`json_extract(value, '$.%s') AS %s`, strings.Trim(name, `"`), name))
		}
		return "(SELECT " + strings.Join(columns, ", ") + " FROM json_each(?1)) j"
	})
	return strings.NewReplacer("SET NOCOUNT ON;\n", "", `"".`, "", "COLLATE Latin1_General_100_BIN2", "COLLATE RTRIM", "DATALENGTH(", "2 * length(", "SUBSTRING(", "substr(", "@p", "?",
		"CAST(?1 AS nvarchar(510))", "?1", "CAST(?2 AS nvarchar(510))", "?2").Replace(text)
}

// D-316: what is put is what is there then, in every column of every table, and what is deleted is the
// one row of its key. SQLite runs the statements.
func TestRowsArePutAsTheyAre(t *testing.T) {
	for _, table := range engine.Tables() {
		pool, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		pool.SetMaxOpenConns(1)
		exec := func(text string, args ...any) {
			t.Helper()
			if _, err := pool.ExecContext(t.Context(), text, args...); err != nil {
				t.Fatalf("%s: %v in %s", table.Name, err, text)
			}
		}
		s := &stored{&table, TableName(table.Name), engine.Names{}}
		makeTables(exec, s)
		rows, want := someRows(&table)
		list, payloads, err := s.encode(rows)
		if err != nil {
			t.Fatal(err)
		}
		exec(listInSQLite(s.put()), string(list), payloads)
		if table.Shared { // again
			exec(listInSQLite(s.put()), string(list), payloads)
		}
		check := func(want []string) {
			t.Helper()
			copied, _ := table.Copied()
			found, err := pool.QueryContext(t.Context(), "SELECT "+copied.Quoted()+" FROM "+s.sourceInSQLite()+" ORDER BY rowid")
			if err != nil {
				t.Fatal(err)
			}
			defer found.Close()
			r, err := newRow(found)
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for found.Next() {
				if err := found.Scan(r.into...); err != nil {
					t.Fatal(err)
				}
				have = append(have, fmt.Sprintf("%q", r.values))
			}
			if !slices.Equal(have, want) {
				t.Errorf("%s has\n%s\nwant\n%s", table.Name, strings.Join(have, "\n"), strings.Join(want, "\n"))
			}
		}
		check(want)
		if table.Name == "outbox_attempt" { // a key of the server's own
			continue
		}
		exec(listInSQLite(s.deletion()), rawKey(table.KeyOf(rows[1]))...)
		check(slices.Delete(slices.Clone(want), 1, 2))
	}
}

func rawKey(key []any) []any {
	for i, v := range key {
		if id, ok := v.([16]byte); ok {
			key[i] = uuidText(id)
		}
	}
	return key
}

// sourceInSQLite is source with a number of the row.
func (s *stored) sourceInSQLite() string {
	if s.name == limitClaims {
		return "(SELECT l.kind, l.name, c.id, c.rowid AS rowid FROM outbox_limit_claim c JOIN outbox_limit l ON l.seq = c.of_limit)"
	}
	return s.name
}

// makeTables makes a table without its types, and the limits that claims name.
func makeTables(exec func(text string, args ...any), s *stored) {
	if s.name == limitClaims {
		exec("CREATE TABLE outbox_limit (seq, kind TEXT COLLATE RTRIM, name TEXT COLLATE RTRIM, size AS (2 * length(name)))")
		for i, name := range []string{"text 0 ", "text 1 ", "text 1", "text 2 "} {
			exec("INSERT INTO outbox_limit VALUES (?, ?, ?)", i, strings.TrimRight(name, " ")+" ", name)
		}
		exec("CREATE TABLE outbox_limit_claim (of_limit, id)")
		return
	}
	var columns, texts []string
	for _, c := range s.Columns {
		collation := ""
		if c.Kind == engine.Text {
			collation = " COLLATE RTRIM"
		}
		columns = append(columns, quoteColumn(c.Name)+collation)
	}
	for _, c := range s.KeyColumns() {
		if c.Kind == engine.Text && c.Name != "kind" {
			texts = append(texts, quoteColumn(c.Name))
		}
	}
	if column, value := sizeOf(texts); column != "" {
		columns = append(columns, column+" AS ("+strings.ReplaceAll(value, "DATALENGTH(", "2 * length(")+")")
	}
	exec("CREATE TABLE " + s.name + " (" + strings.Join(columns, ", ") + ")")
}

// someRows are three rows, the second with nulls outside of its key, and what SQLite has of them.
func someRows(table *engine.Table) (rows [][]any, want []string) {
	for i := range 3 {
		var row, raw []any
		for k, c := range table.Columns {
			v, r := someValue(c.Kind, i, k)
			if i == 1 && !slices.Contains(table.Key, c.Name) {
				v, r = nil, nil
			}
			row = append(row, v)
			if !c.Own {
				raw = append(raw, r)
			}
		}
		rows, want = append(rows, row), append(want, fmt.Sprintf("%q", raw))
	}
	return rows, want
}

func someValue(k engine.Kind, i, column int) (v, raw any) {
	n := int64(1<<60 + 1000*i + column)
	at := time.Unix(int64(i)*1e6+int64(column), 123_456_000).UTC()
	text := fmt.Sprintf("text %d ", i)
	switch k {
	case engine.Bool:
		return i > 0, int64(min(i, 1))
	case engine.Text:
		return text, text
	case engine.Bytes, engine.Payload:
		b := []byte(strings.Repeat(text, i*column))
		return b, b
	case engine.UUID:
		id := [16]byte{byte(i), 1, 2, byte(column)}
		return id, uuidText(id)
	case engine.Time, engine.Until:
		return at, at.Format(timeText)
	case engine.Duration:
		return time.Duration(n) * time.Microsecond / (1 << 45) * (1 << 10), (time.Duration(n) * time.Microsecond / (1 << 45) * (1 << 10)).Microseconds()
	}
	return n, n
}

var ordered = regexp.MustCompile(`ORDER BY [\w", ]+`)

// inSQLite is a page's statement in SQLite's words.
func inSQLite(s *stored, above bool) string {
	text := s.rows(above, "")
	text = strings.NewReplacer("TOP (@p1) ", "", `"".`, "", "DATALENGTH(", "2 * length(", "@p", "?").Replace(text)
	return ordered.ReplaceAllStringFunc(text, func(order string) string { return order + " LIMIT ?1" })
}
