package sqlserver

import (
	"bytes"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/bravellian/pawl/internal/engine"
)

// stored is a table of a store as it lies in SQL Server.
type stored struct {
	*engine.Table
	name  string
	names engine.Names
}

func (db *DB) stored(t *engine.Table) *stored {
	return &stored{t, TableName(t.Name), db.folder.Names}
}

// TableName is what a table of the other engines is called here, where tables and procedures share
// their names.
func TableName(name string) string {
	switch name {
	case "outbox_claim":
		return "outbox_claimed"
	case "outbox_join_wait":
		return "outbox_join_waiting"
	}
	return name
}

func (s *stored) quoted() string { return s.names.Quote(s.name) }

// limitClaims is the table that has a limit's number in the place of its kind and name.
const limitClaims = "outbox_limit_claim"

// source is the table behind FROM, as t, with the columns that others have.
func (s *stored) source(hint string) string {
	if s.name == limitClaims {
		return fmt.Sprintf("(SELECT l.kind, l.name, l.size, c.id FROM %s c%s INNER JOIN %s l%s ON l.seq = c.of_limit) t", s.quoted(), hint, s.names.Quote("outbox_limit"), hint)
	}
	return s.quoted() + " t" + hint
}

// term is a part of a key: a column, and the parameter that it is compared with.
type term struct{ column, value string }

// terms are those of the key, in order. Spaces at the end of a text do not count for = and >, so
// that the sizes of its texts are a part of a key; they are columns of the indexes of names.
func (s *stored) terms(firstParam int) (all []term) {
	var sizes []string
	for i, c := range s.KeyColumns() {
		value := "@p" + strconv.Itoa(firstParam+i)
		if c.Kind == engine.Text {
			value = "CAST(" + value + " AS nvarchar(510))"
			if c.Name != "kind" { // that is one of a few words
				sizes = append(sizes, value)
			}
		}
		all = append(all, term{quoteColumn(c.Name), value})
	}
	if column, value := sizeOf(sizes); column != "" {
		all = append(all, term{column, value})
	}
	return all
}

// sizeOf returns the column that has the sizes of texts, and how it is computed.
func sizeOf(texts []string) (column, value string) {
	switch len(texts) {
	case 0:
		return "", ""
	case 1:
		return "size", "DATALENGTH(" + texts[0] + ")"
	}
	return "sizes", "DATALENGTH(" + texts[0] + ") * 2048 + DATALENGTH(" + texts[1] + ")"
}

func quoteColumn(name string) string { return `"` + name + `"` }

func order(terms []term) string {
	columns := make([]string, len(terms))
	for i, t := range terms {
		columns[i] = t.column
	}
	return strings.Join(columns, ", ")
}

// unlocked is the macro of this name.
const unlocked = " WITH (READPAST, READCOMMITTEDLOCK)"

// passesLocked reports whether a table is read past what somebody has locked, as long as it has no
// fence: it is read while programs keep transactions open, and what is missing does no harm.
// Messages are compared behind the fence; claims and lanes are asked for to have handlers finish.
func (s *stored) passesLocked() bool {
	return s.Name == engine.Messages || s.Name == "outbox_claim" || s.Name == "outbox_lane"
}

// page is the statement that reads @p1 rows in order of the key, above the key that begins at @p2.
// Behind a fence a lock is that of a writer that is being refused, which leaves the row as it was:
// that is waited for, since a row that is passed over would be lost.
func (s *stored) page(above bool) string {
	text := s.rows(above, "")
	if s.passesLocked() {
		text = fmt.Sprintf("IF OBJECT_ID(%s, N'TR') IS NULL\n%s\nELSE\n%s", quoteText(s.fence()), s.rows(above, unlocked), text)
	}
	return "SET NOCOUNT ON;\nSET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n" + text
}

// rows reads a page. There is no comparison of rows: those above (a, b) are those with the same a
// and a greater b, and those with a greater a. Each part is a search of its own in the index of the
// key, which one condition with OR would not be: then every page of an inbox with one source
// would read all rows before it.
func (s *stored) rows(above bool, hint string) string {
	terms, columns := s.terms(2), s.Quoted()
	if !above || len(terms) == 1 {
		where := ""
		if above {
			where = " WHERE " + terms[0].column + " > " + terms[0].value
		}
		return fmt.Sprintf("SELECT TOP (@p1) %s FROM %s%s ORDER BY %s", columns, s.source(hint), where, order(terms))
	}
	all := columns
	if last := terms[len(terms)-1].column; len(terms) > len(s.Key) {
		all += ", " + last
	}
	var parts []string
	for i := len(terms) - 1; i >= 0; i-- {
		where := terms[i].column + " > " + terms[i].value
		if i > 0 {
			where = equal(terms[:i]) + " AND " + where
		}
		parts = append(parts, fmt.Sprintf("SELECT x%d.* FROM (SELECT TOP (@p1) %s FROM %s WHERE %s ORDER BY %s) x%[1]d", i, all, s.source(hint), where, order(terms)))
	}
	return fmt.Sprintf("SELECT TOP (@p1) %s FROM (%s) r ORDER BY %s", columns, strings.Join(parts, "\nUNION ALL "), order(terms))
}

func equal(terms []term) string {
	all := make([]string, len(terms))
	for i, t := range terms {
		all[i] = t.column + " = " + t.value
	}
	return strings.Join(all, " AND ")
}

// deletion is the statement that deletes the row of a key.
func (s *stored) deletion() string {
	terms := s.terms(1)
	if s.name == limitClaims {
		limit := slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return t.column == `"id"` })
		return fmt.Sprintf("DELETE FROM %s WHERE id = @p3 AND of_limit IN (SELECT l.seq FROM %s l WHERE %s)", s.quoted(), s.names.Quote("outbox_limit"), equal(limit))
	}
	return "DELETE FROM " + s.quoted() + " WHERE " + equal(terms)
}

// analysis is the statement that updates the statistics.
func (s *stored) analysis() string { return "UPDATE STATISTICS " + s.quoted() }

// put is the statement that adds rows: @p1 is a list of them, in JSON, and @p2 their payloads, one
// behind the other. Rows are numbered, so that what the server numbers itself keeps their order.
func (s *stored) put() string {
	copied, _ := s.Copied()
	var declared, columns, values []string
	for _, c := range copied.Columns {
		name := quoteColumn(c.Name)
		columns = append(columns, name)
		if isBinary(c.Kind) {
			declared = append(declared, quoteColumn(c.Name+payloadAt)+" bigint, "+quoteColumn(c.Name+payloadSize)+" bigint")
			values = append(values, fmt.Sprintf("SUBSTRING(@p2, j.%s, j.%s)", quoteColumn(c.Name+payloadAt), quoteColumn(c.Name+payloadSize)))
			continue
		}
		declared = append(declared, name+" "+jsonType(c.Kind))
		values = append(values, "j."+name)
	}
	list := fmt.Sprintf(`OPENJSON(@p1) WITH ("%s" bigint, %s) j`, rowNumber, strings.Join(declared, ", "))
	into, from, where := strings.Join(columns, ", "), strings.Join(values, ", "), ""
	switch {
	case s.name == limitClaims: // of a limit that is there: others count nothing
		into, from = "of_limit, id", `l.seq, j."id"`
		list = fmt.Sprintf(`(SELECT j."%s", j."id", j."kind" COLLATE Latin1_General_100_BIN2 AS kind, j."name" COLLATE Latin1_General_100_BIN2 AS name FROM %s) j`, rowNumber, list) +
			" INNER JOIN " + s.names.Quote("outbox_limit") + " l ON l.kind = j.kind AND l.name = j.name AND l.size = DATALENGTH(j.name)"
	case s.Shared:
		key := quoteColumn(s.Key[0])
		where = fmt.Sprintf(" WHERE NOT EXISTS (SELECT 1 FROM %s k WHERE k.%s = j.%s)", s.quoted(), key, key)
	}
	return fmt.Sprintf(`SET NOCOUNT ON;
INSERT INTO %s (%s) SELECT %s FROM %s%s ORDER BY j."%s"`, s.quoted(), into, from, list, where, rowNumber)
}

const (
	rowNumber   = "row"
	payloadAt   = "_at"
	payloadSize = "_size"
)

func isBinary(k engine.Kind) bool { return k == engine.Bytes || k == engine.Payload }

// jsonType is the type of a column of a list in JSON.
func jsonType(k engine.Kind) string {
	switch k {
	case engine.Int, engine.Duration:
		return "bigint"
	case engine.Bool:
		return "bit"
	case engine.UUID:
		return "uniqueidentifier"
	case engine.Time, engine.Until:
		return "datetime2(7)"
	}
	return "nvarchar(max)"
}

// encode writes rows as put takes them.
func (s *stored) encode(rows [][]any) (list mssql.NVarCharMax, payloads []byte, err error) {
	copied, pick := s.Copied()
	var b bytes.Buffer
	payloads = []byte{} // nil is null, for the driver
	for i, row := range rows {
		b.WriteByte(`[,`[min(i, 1)])
		b.WriteString(`{"` + rowNumber + `":` + strconv.Itoa(i))
		for k, v := range pick(row) {
			c := copied.Columns[k]
			switch v := v.(type) {
			case nil:
				continue
			case []byte:
				if !isBinary(c.Kind) {
					return "", nil, fmt.Errorf("column %s: a %T", c.Name, v)
				}
				fmt.Fprintf(&b, `,"%s%s":%d,"%[1]s%[4]s":%[5]d`, c.Name, payloadAt, len(payloads)+1, payloadSize, len(v))
				payloads = append(payloads, v...)
			default:
				b.WriteString(`,"` + c.Name + `":`)
				if err := writeJSON(&b, v); err != nil {
					return "", nil, fmt.Errorf("column %s: %w", c.Name, err)
				}
			}
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return mssql.NVarCharMax(b.String()), payloads, nil
}

// collect reads the rows of page, to the end.
func (s *stored) collect(rows *sql.Rows) (all [][]any, err error) {
	r, err := newRow(rows)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		if err := rows.Scan(r.into...); err != nil {
			return nil, err
		}
		one := make([]any, len(r.values))
		for i, v := range r.values {
			if one[i], err = movedValue(s.Columns[i].Kind, v); err != nil {
				return nil, fmt.Errorf("column %s: %w", s.Columns[i].Name, err)
			}
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// movedValue converts a value of the driver's to one of an engine.Column.
func movedValue(k engine.Kind, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch k {
	case engine.Int:
		return assigned[int64](v)
	case engine.Bool:
		return assigned[bool](v)
	case engine.UUID:
		return assigned[[16]byte](v)
	case engine.Time, engine.Until:
		return assigned[time.Time](v)
	case engine.Duration:
		var micros int64
		err := assign(&micros, v)
		return time.Duration(micros) * time.Microsecond, err
	case engine.Bytes, engine.Payload:
		return assigned[[]byte](v)
	}
	return assigned[string](v)
}

func assigned[T any](v any) (any, error) {
	var dest T
	err := assign(&dest, v)
	return dest, err
}
