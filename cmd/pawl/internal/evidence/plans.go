package evidence

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bravellian/pawl/internal/driverr"
)

// mostGrant is how many KB of memory a statement may ask for: claims run all the time.
const mostGrant = 64 << 10

// plans has SQL Server compile every procedure, which shows names and hints that it refuses, and reads the plans.
func plans(ctx context.Context, w *world) (string, error) {
	if w.db.Engine() != "sqlserver" {
		return "", skip("PostgreSQL and SQLite have tests of their plans")
	}
	conn, err := w.sql().Conn(ctx)
	if err != nil {
		return "", err
	}
	defer func() {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // it shows plans: no other is to use it
		_ = conn.Close()
	}()
	calls, err := procedureCalls(ctx, conn, w.Schema)
	if err != nil {
		return "", err
	}
	if _, err := conn.ExecContext(ctx, "SET SHOWPLAN_XML ON"); err != nil {
		if driverr.HasNumber(err, noShowplan) {
			return "", skip("this user may not see plans: GRANT SHOWPLAN")
		}
		return "", err
	}
	var failures []error
	most := grant{}
	for _, c := range calls {
		p, err := planOf(ctx, conn, c.text)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", c.name, err))
			continue
		}
		if most.kb < p.grant {
			most = grant{c.name, p.grant}
		}
		if p.sorted && strings.Contains(c.name, "claim") {
			failures = append(failures, wrong("%s sorts messages that it joined", c.name))
		}
		if p.grant > mostGrant {
			failures = append(failures, wrong("%s asks for %d KB of memory", c.name, p.grant))
		}
	}
	return fmt.Sprintf("%d procedures; the largest grant is %d KB, of %s", len(calls), most.kb, most.of), errors.Join(failures...)
}

// noShowplan is the error of a user that may not see plans.
const noShowplan = 262

type grant struct {
	of string
	kb int
}

// procedureCall calls a procedure with nothing in its parameters.
type procedureCall struct{ name, text string }

const procedureParameters = `SELECT p.name, coalesce(a.name, N''), coalesce(CASE WHEN t.is_table_type = 1 THEN t.name END, N'')
  FROM sys.procedures p LEFT JOIN sys.parameters a ON a.object_id = p.object_id LEFT JOIN sys.types t ON t.user_type_id = a.user_type_id
 WHERE p.schema_id = SCHEMA_ID(@p1) ORDER BY p.name, a.parameter_id`

func procedureCalls(ctx context.Context, conn *sql.Conn, schema string) (calls []procedureCall, err error) {
	rows, err := conn.QueryContext(ctx, procedureParameters, schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all [][3]string
	for rows.Next() {
		var r [3]string
		if err := rows.Scan(&r[0], &r[1], &r[2]); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return callsOf(schema, all), rows.Err()
}

// callsOf writes calls of procedures, from rows of procedure, parameter and table type.
func callsOf(schema string, rows [][3]string) (calls []procedureCall) {
	for len(rows) > 0 {
		name := rows[0][0]
		var declared, given []string
		for len(rows) > 0 && rows[0][0] == name {
			value, parameter := "NULL", rows[0][1]
			if table := rows[0][2]; table != "" {
				value = "@t" + strconv.Itoa(len(declared)+1)
				declared = append(declared, fmt.Sprintf("DECLARE %s %s.%s; ", value, schema, table))
			}
			if parameter != "" {
				given = append(given, parameter+" = "+value)
			}
			rows = rows[1:]
		}
		calls = append(calls, procedureCall{name, strings.Join(declared, "") + "EXEC " + schema + "." + name + strings.TrimSuffix(" "+strings.Join(given, ", "), " ")})
	}
	return calls
}

// plan is what of the plans of a procedure's statements matters.
type plan struct {
	sorted bool // messages are sorted behind a join
	grant  int  // KB, the most of a statement
}

// planOf reads the plans of all statements of a call.
func planOf(ctx context.Context, conn *sql.Conn, text string) (p plan, err error) {
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var document string
			if err := rows.Scan(&document); err != nil {
				return p, err
			}
			if err := p.add(document); err != nil {
				return p, err
			}
		}
	}
	return p, rows.Err()
}

// operator is one of a plan that is being read.
type operator struct {
	kind           string
	joins, message bool // what is below it
}

// add reads a plan as showplanxml.xsd has it: RelOp elements lie in each other.
func (p *plan) add(document string) error {
	d := xml.NewDecoder(strings.NewReader(document))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // the driver has made it UTF-8
	var open []operator
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("a plan that cannot be read: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "RelOp":
				open = append(open, operator{kind: attribute(t, "PhysicalOp")})
			case "Object":
				if n := len(open); n > 0 && strings.HasSuffix(attribute(t, "Table"), "outbox_message]") {
					open[n-1].message = true
				}
			case "MemoryGrantInfo":
				kb, _ := strconv.Atoi(attribute(t, "SerialDesiredMemory"))
				p.grant = max(p.grant, kb)
			}
		case xml.EndElement:
			if t.Name.Local == "RelOp" {
				open = p.leave(open)
			}
		}
	}
}

// leave ends the innermost operator: what is below it is below the one around it, too.
func (p *plan) leave(open []operator) []operator {
	last := open[len(open)-1]
	p.sorted = p.sorted || last.kind == "Sort" && last.joins && last.message
	open = open[:len(open)-1]
	if n := len(open); n > 0 {
		joins := slices.Contains([]string{"Nested Loops", "Hash Match", "Merge Join"}, last.kind)
		open[n-1].joins, open[n-1].message = open[n-1].joins || last.joins || joins, open[n-1].message || last.message
	}
	return open
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

const promotions = `SELECT coalesce(SUM(s.index_lock_promotion_count), 0), coalesce(SUM(s.index_lock_promotion_attempt_count), 0)
  FROM sys.tables t CROSS APPLY sys.dm_db_index_operational_stats(DB_ID(), t.object_id, NULL, NULL) s WHERE t.schema_id = SCHEMA_ID(@p1)`

// escalations counts how often SQL Server took a lock on a table in place of those on its rows, in all that ran before.
func escalations(ctx context.Context, w *world) (string, error) {
	if w.db.Engine() != "sqlserver" {
		return "", skip("the engine has no escalation")
	}
	var taken, tried int64
	if err := w.sql().QueryRowContext(ctx, promotions, w.Schema).Scan(&taken, &tried); err != nil {
		if driverr.HasNumber(err, 229, 297, 300, 371) {
			return "", skip("this user may not see it")
		}
		return "", err
	}
	if taken > 0 {
		return "", wrong("%d of %d attempts", taken, tried)
	}
	return fmt.Sprintf("%d attempts", tried), nil
}
