package importer

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// Table says which rows of any table are moved, and how they become messages.
type Table struct {
	From    string   // the table, behind its schema and a dot or alone
	Map     string   // FIELD=COLUMN or FIELD='TEXT', commas between
	Pending []string // COLUMN=VALUE, with | between several values and nothing for null; all have to hold
	Moved   []string // COLUMN=VALUE, what is set in rows that were moved; nothing for null, now() for the time
	Delete  bool     // delete them instead
	Order   string   // the column of their order; "": that of the field id
}

// columnsOf are the fields of Map, by the names that envelopes have for them.
func columnsOf() map[string]int {
	return map[string]int{"id": fieldRow, "key": fieldKey, "topic": fieldTopic, "payload": fieldPayload, "due": fieldDue, "correlation_id": fieldCorrelation,
		"ordering_key": fieldOrdering, "queue": fieldQueue}
}

// plans returns the one of the table.
func (o Table) plans(ctx context.Context, db *sql.DB, d *dialect) ([]*plan, error) {
	schema, name, ok := strings.Cut(o.From, ".")
	if !ok {
		schema, name = "", o.From
	}
	all, err := d.tables(ctx, db, schema)
	if err != nil {
		return nil, err
	}
	if all.find(name) == nil {
		return nil, errNoTable("table "+strconv.QuoteToASCII(name), schema)
	}
	return o.of(d, all, name)
}

// of returns the plan of the table of a name.
func (o Table) of(d *dialect, all tables, name string) ([]*plan, error) {
	t := all.find(name)
	p := &plan{dialect: d, name: t.name, table: d.quoted(t)}
	for _, read := range []func(*plan, *table) error{o.fields, o.waiting, o.moved} {
		if err := read(p, t); err != nil {
			return nil, err
		}
	}
	return []*plan{p}, nil
}

// fields reads Map.
func (o Table) fields(p *plan, t *table) error {
	given := map[string]string{"id": "id"}
	for _, pair := range split(o.Map) {
		name, value, ok := strings.Cut(pair, "=")
		if _, known := columnsOf()[name]; !known || !ok {
			return engine.Invalid("map", "want FIELD=COLUMN with a field of %s", strings.Join(slices.Sorted(maps.Keys(columnsOf())), ", "))
		}
		given[name] = value
	}
	for name, value := range given {
		field := columnsOf()[name]
		if strings.HasPrefix(value, "'") && (field == fieldTopic || field == fieldQueue) {
			p.fixed[field] = strings.Trim(value, "'")
			continue
		}
		c, err := t.need(value)
		if err != nil {
			return err
		}
		p.exprs[field] = p.value(c)
		if field == fieldRow {
			p.row, p.order = p.quote(c.name), p.of(c)
		}
	}
	if given["topic"] == "" || given["payload"] == "" {
		return engine.Invalid("map", "want a topic and a payload")
	}
	if p.exprs[fieldKey] == "" {
		p.exprs[fieldKey] = p.exprs[fieldRow]
	}
	if o.Order == "" {
		return nil
	}
	c, err := t.need(o.Order)
	p.order = p.of(c) + ", " + p.order
	return err
}

// split splits a list at its commas, except within quotes.
func split(list string) (all []string) {
	quoted := false
	for part := range strings.FieldsFuncSeq(list, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return r == ',' && !quoted
	}) {
		all = append(all, strings.TrimSpace(part))
	}
	return all
}

// waiting reads Pending. Values are arguments, which the server converts to the columns' types.
func (o Table) waiting(p *plan, t *table) error {
	if len(o.Pending) == 0 {
		return engine.Invalid("pending", "say which rows wait")
	}
	var all []string
	err := pairs(t, "pending", o.Pending, func(c column, values string) {
		var any []string
		for _, v := range strings.Split(values, "|") {
			if v == "" {
				any = append(any, p.of(c)+" IS NULL")
			} else {
				any = append(any, p.of(c)+" = "+p.place(&p.waiting.args, v))
			}
		}
		all = append(all, "("+strings.Join(any, " OR ")+")")
	})
	p.waiting.text = strings.Join(all, " AND ")
	p.phases = []string{p.waiting.text}
	return err
}

// moved reads Moved.
func (o Table) moved(p *plan, t *table) error {
	if o.Delete == (len(o.Moved) > 0) {
		return engine.Invalid("moved", "say what is set in rows that were moved, or that they are deleted")
	}
	var all []string
	err := pairs(t, "moved", o.Moved, func(c column, value string) {
		switch value {
		case "":
			value = "NULL"
		case "now()":
			value = p.nowFor(c)
		default:
			value = p.place(&p.moved.args, value)
		}
		all = append(all, p.quote(c.name)+" = "+value)
	})
	p.moved.text = strings.Join(all, ", ")
	return err
}

// pairs calls f for every COLUMN=VALUE.
func pairs(t *table, what string, list []string, f func(c column, value string)) error {
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return engine.Invalid(what, "want COLUMN=VALUE")
		}
		c, err := t.need(name)
		if err != nil {
			return err
		}
		f(c, value)
	}
	return nil
}
