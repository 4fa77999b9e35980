package importer

import (
	"context"
	"database/sql"
	"embed"
	"slices"
	"strconv"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

//go:embed sql
var statements embed.FS

// dialect is an engine's SQL.
type dialect struct {
	engine      string
	open, close string // of a quoted name
	mark        string // before a parameter's number
	schema      string // of the origin's tables, unless another is named
	now         string // the time as a table's columns have it
}

// dialectOf returns that of an engine.
func dialectOf(name string) *dialect {
	switch name {
	case "postgres":
		return &dialect{engine: name, open: `"`, close: `"`, mark: "$", schema: "public", now: "now()"}
	case "sqlserver":
		return &dialect{engine: name, open: "[", close: "]", mark: "@p", schema: "dbo", now: "SYSUTCDATETIME()"}
	}
	return &dialect{engine: name, open: `"`, close: `"`, mark: "?", schema: "main", now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"}
}

// text returns an engine's statement without its comment.
func (d *dialect) text(name string) string {
	text, err := statements.ReadFile("sql/" + d.engine + "/" + name + ".sql")
	if err != nil {
		panic(err) // it is part of the program
	}
	_, statement, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(statement)
}

// quote returns a name as an identifier, whatever is in it.
func (d *dialect) quote(name string) string {
	return d.open + strings.ReplaceAll(name, d.close, d.close+d.close) + d.close
}

// place returns the place of an argument that follows others.
func (d *dialect) place(args *[]any, v any) string {
	*args = append(*args, v)
	return d.mark + strconv.Itoa(len(*args))
}

// nowFor returns the expression of the present for a column: times without a zone are UTC.
func (d *dialect) nowFor(c column) string {
	if c.kind == "timestamp without time zone" {
		return "(now() AT TIME ZONE 'UTC')"
	}
	return d.now
}

// past returns the condition that a column's time is over. A time that SQLite cannot read never is.
func (d *dialect) past(c column) string {
	if d.engine == "sqlite" {
		return "julianday(" + d.of(c) + ") <= julianday('now')"
	}
	return d.of(c) + " <= " + d.nowFor(c)
}

// of returns a column of the table that rows are picked from.
func (d *dialect) of(c column) string { return "t." + d.quote(c.name) }

// value returns a column as it is read. The driver returns a uniqueidentifier in another order of bytes than its text.
func (d *dialect) value(c column) string {
	if c.kind == "uniqueidentifier" && d.engine == "sqlserver" {
		return "CONVERT(nvarchar(36), " + d.of(c) + ")"
	}
	return d.of(c)
}

// column is one of a table: its name as it is written there, and its type.
type column struct{ name, kind string }

// isText reports whether a column has texts.
func (c column) isText() bool {
	return strings.Contains(c.kind, "char") || strings.Contains(c.kind, "text")
}

// bit returns a constant for a column of booleans, which engines without them keep as numbers.
func (c column) bit(yes bool) string {
	switch {
	case c.kind == "boolean" && yes:
		return "true"
	case c.kind == "boolean":
		return "false"
	case yes:
		return "1"
	}
	return "0"
}

// table is one of the database, with its columns.
type table struct {
	schema, name string
	columns      []column
}

// column returns the one of a name, however its words are joined: CreatedAt, created_at or CREATEDAT.
func (t *table) column(name string) (column, bool) {
	i := named(t.columns, name, func(c column) string { return c.name })
	if i < 0 {
		return column{}, false
	}
	return t.columns[i], true
}

// need is column for one that has to be there.
func (t *table) need(name string) (column, error) {
	c, ok := t.column(name)
	if !ok {
		return c, engine.Invalid("table "+strconv.QuoteToASCII(t.name), "it has no column %s", strconv.QuoteToASCII(name))
	}
	return c, nil
}

// named returns the index of what has a name, exactly or else but for how it joins its words; -1: none.
func named[T any](all []T, name string, of func(T) string) int {
	if i := slices.IndexFunc(all, func(v T) bool { return of(v) == name }); i >= 0 {
		return i
	}
	plain := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	return slices.IndexFunc(all, func(v T) bool { return plain(of(v)) == plain(name) })
}

// tables are those of a schema.
type tables []*table

// find returns the table of a name; nil: there is none.
func (all tables) find(name string) *table {
	if i := named(all, name, func(t *table) string { return t.name }); i >= 0 {
		return all[i]
	}
	return nil
}

// tables reads the tables of a schema.
func (d *dialect) tables(ctx context.Context, db *sql.DB, schema string) (all tables, err error) {
	rows, err := db.QueryContext(ctx, d.text("columns"), schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var c column
		if err := rows.Scan(&name, &c.name, &c.kind); err != nil {
			return nil, err
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &table{schema: schema, name: name})
		}
		t := all[len(all)-1]
		t.columns = append(t.columns, c)
	}
	return all, rows.Err()
}

// quoted is a table's name in statements.
func (d *dialect) quoted(t *table) string {
	if t.schema == "" {
		return d.quote(t.name)
	}
	return d.quote(t.schema) + "." + d.quote(t.name)
}

// errNoTable says that a schema has none of the tables that were named.
func errNoTable(what, schema string) error {
	return engine.Invalid(what, "there is no such table in the schema %s", strconv.QuoteToASCII(schema))
}
