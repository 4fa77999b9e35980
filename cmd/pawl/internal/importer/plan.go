package importer

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The fields of a message that rows have columns for, in the order in which they are read.
const (
	fieldRow = iota // identifies the row in its table
	fieldKey        // identifies the message
	fieldTopic
	fieldPayload
	fieldDue
	fieldRetry // the next attempt: due is the later of both
	fieldCorrelation
	fieldOrdering
	fieldQueue
	fields
)

// plan is how the rows of a table become messages.
type plan struct {
	*dialect
	name    string         // of the table, as it is shown
	table   string         // of the table, quoted
	row     string         // the column that identifies a row, quoted
	exprs   [fields]string // what each field is read from; "": nothing
	fixed   [fields]string // what it is instead, for all rows
	waiting clause         // which rows wait
	phases  []string       // its alternatives, each of which an index may have in order; none: waiting is all
	moved   clause         // what is set in a row that was moved; "": it is deleted
	order   string
	others  []state // rows that do not wait, for the report
	timers  bool    // rows become timers
}

// clause is a part of a statement, with arguments that are the statement's first.
type clause struct {
	text string
	args []any
}

// state is rows that the report counts.
type state struct{ name, is string }

// pick returns the query of at most so many rows that wait in a phase, behind the first ones, and locks them.
func (p *plan) pick(phase string, skip, most int) string {
	return p.fill(strings.NewReplacer("{skip}", strconv.Itoa(skip), "{most}", strconv.Itoa(most)).Replace(p.text("pick")), phase)
}

// peek returns the query of all rows that wait.
func (p *plan) peek() string {
	return p.fill("SELECT {columns} FROM {table} AS t WHERE {waiting} ORDER BY {order}", p.waiting.text)
}

func (p *plan) fill(text, waiting string) string {
	columns := slices.Clone(p.exprs[:])
	for i := range columns {
		if columns[i] == "" {
			columns[i] = "NULL"
		}
	}
	return strings.NewReplacer("{columns}", strings.Join(columns, ", "), "{table}", p.table, "{waiting}", waiting, "{order}", p.order).Replace(text)
}

// settle returns the statement that marks rows as moved, or deletes them.
func (p *plan) settle(keys []any) (string, []any) {
	if p.moved.text == "" {
		return p.those("DELETE FROM "+p.table+" WHERE "+p.row, keys, nil)
	}
	return p.those("UPDATE "+p.table+" SET "+p.moved.text+" WHERE "+p.row, keys, p.moved.args)
}

// still returns the query of how many of these rows wait.
func (p *plan) still(keys []any) (string, []any) {
	return p.those("SELECT count(*) FROM "+p.table+" AS t WHERE ("+p.waiting.text+") AND t."+p.row, keys, p.waiting.args)
}

// those ends a statement by the keys of rows.
func (p *plan) those(text string, keys, args []any) (string, []any) {
	args = slices.Clone(args)
	places := make([]string, len(keys))
	for i, k := range keys {
		places[i] = p.place(&args, k)
	}
	return text + " IN (" + strings.Join(places, ", ") + ")", args
}

// tally returns the query that counts the rows that wait, and those of the other states. SQL Server sums no expression
// with a subquery.
func (p *plan) tally() string {
	var ones, sums []string
	for i, s := range append([]state{{is: p.waiting.text}}, p.others...) {
		ones = append(ones, fmt.Sprintf("CASE WHEN %s THEN 1 ELSE 0 END AS n%d", s.is, i))
		sums = append(sums, fmt.Sprintf("coalesce(sum(x.n%d), 0)", i))
	}
	return "SELECT " + strings.Join(sums, ", ") + " FROM (SELECT " + strings.Join(ones, ", ") + " FROM " + p.table + " AS t) x"
}

// count counts them.
func (p *plan) count(ctx context.Context, db *sql.DB) (waiting int64, others map[string]int64, err error) {
	others = map[string]int64{}
	counts, dest := make([]int64, len(p.others)), []any{&waiting}
	for i := range counts {
		dest = append(dest, &counts[i])
	}
	err = db.QueryRowContext(ctx, p.tally(), p.waiting.args...).Scan(dest...)
	for i, s := range p.others {
		others[s.name] = counts[i]
	}
	return waiting, others, err
}
