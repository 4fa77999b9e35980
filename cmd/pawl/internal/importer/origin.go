package importer

import (
	"context"
	"database/sql"
	"strings"
)

// Origin says which rows of the origin are moved: the .NET platform on SQL Server whose tables docs/from-the-origin.md
// describes, in any of their forms.
type Origin struct {
	Schema  string // of its tables; "": dbo, on PostgreSQL public
	Claimed bool   // also rows under a lease that has not expired
}

// movedBy is whom the origin's tables name for rows that were moved.
const movedBy = "pawl import"

// originTable is one with rows to move.
type originTable struct {
	name    string
	order   string // a column, as the others
	due     string
	message string // with the id that the message gets
	content string // the table with topic and payload; "": it has them
	timers  bool
}

func originTables() []originTable {
	return []originTable{
		{name: "Outbox", order: "CreatedAt", due: "DueTimeUtc", message: "MessageId"},
		{name: "Timers", order: "DueTime", due: "DueTime", message: "Id", timers: true},
		{name: "JobRuns", order: "ScheduledTime", due: "ScheduledTime", message: "Id", content: "Jobs"},
	}
}

// plans returns those of the tables that are there.
func (o Origin) plans(ctx context.Context, db *sql.DB, d *dialect) ([]*plan, error) {
	if o.Schema == "" {
		o.Schema = d.schema
	}
	all, err := d.tables(ctx, db, o.Schema)
	if err != nil {
		return nil, err
	}
	return o.of(d, all)
}

// of returns the plans of tables.
func (o Origin) of(d *dialect, all tables) (plans []*plan, err error) {
	for _, of := range originTables() {
		t := all.find(of.name)
		if t == nil {
			continue
		}
		p := &plan{dialect: d, name: t.name, table: d.quoted(t), timers: of.timers}
		if err := o.fields(p, t, &of); err != nil {
			return nil, err
		}
		if err := o.content(p, t, all.find(of.content)); err != nil {
			return nil, err
		}
		if p.phases, err = o.states(p, t); err != nil {
			return nil, err
		}
		p.waiting.text = "(" + strings.Join(p.phases, " OR ") + ")"
		if of.name == "Outbox" {
			apart(p, t, all)
		}
		p.moved.text = set(d, t)
		plans = append(plans, p)
	}
	if len(plans) == 0 {
		return nil, errNoTable("Outbox, Timers and JobRuns", o.Schema)
	}
	return plans, nil
}

func (o Origin) fields(p *plan, t *table, of *originTable) error {
	id, err := t.need("Id")
	if err != nil {
		return err
	}
	order, err := t.need(of.order)
	if err != nil {
		return err
	}
	p.row, p.order = p.quote(id.name), p.of(order)+", "+p.of(id)
	p.exprs[fieldRow], p.exprs[fieldKey] = p.value(id), p.value(id)
	for field, name := range map[int]string{fieldKey: of.message, fieldDue: of.due, fieldRetry: "NextAttemptAt", fieldCorrelation: "CorrelationId"} {
		if c, ok := t.column(name); ok {
			p.exprs[field] = p.value(c)
		}
	}
	return nil
}

// content has topic and payload read, of a run those of its job.
func (o Origin) content(p *plan, t, job *table) error {
	from, read := t, p.value
	if job != nil {
		own, err := t.need("JobId")
		if err != nil {
			return err
		}
		id, err := job.need("Id")
		if err != nil {
			return err
		}
		from, read = job, func(c column) string {
			return "coalesce((SELECT j." + p.quote(c.name) + " FROM " + p.quoted(job) + " j WHERE j." + p.quote(id.name) + " = " + p.of(own) + "), '')"
		}
	}
	for field, name := range map[int]string{fieldTopic: "Topic", fieldPayload: "Payload"} {
		c, err := from.need(name)
		if err != nil {
			return err
		}
		p.exprs[field] = read(c)
	}
	return nil
}

// states returns the conditions of rows that are ready, and of those that are claimed and to be moved all the same, and
// has the others counted.
func (o Origin) states(p *plan, t *table) (waits []string, err error) {
	code, ok := t.column("StatusCode")
	if !ok {
		code, ok = t.column("Status")
	}
	switch {
	case !ok: // the oldest form of the Outbox
		processed, err := t.need("IsProcessed")
		p.others = []state{{"done", p.of(processed) + " = " + processed.bit(true)}}
		return []string{p.of(processed) + " = " + processed.bit(false)}, err
	case code.isText():
		p.others = []state{{"not pending", p.of(code) + " <> 'Pending'"}}
		return []string{p.of(code) + " = 'Pending'"}, nil
	}
	is, held := p.of(code)+" = ", ""
	waits = []string{is + "0"}
	if until, leased := t.column("LockedUntil"); o.Claimed {
		waits, held = append(waits, is+"1"), is+"1 AND 1 = 0"
	} else if leased {
		waits, held = append(waits, is+"1 AND "+p.past(until)), is+"1 AND CASE WHEN "+p.past(until)+" THEN 0 ELSE 1 END = 1" // it may be null
	} else {
		held = is + "1"
	}
	p.others = []state{{"in progress", held}, {"done", is + "2"}, {"failed", is + "3"}}
	return waits, nil
}

// apart leaves messages that pending joins of the origin wait for, and those that wait for a join: pawl's joins do not
// know them.
func apart(p *plan, t *table, all tables) {
	topic, _ := t.column("Topic")
	free := p.of(topic) + " <> 'join.wait'"
	if member, join := all.find("OutboxJoinMember"), all.find("OutboxJoin"); member != nil && join != nil {
		name := func(t *table, name string) string { c, _ := t.column(name); return p.quote(c.name) }
		pending := " NOT IN (SELECT m." + name(member, "OutboxMessageId") + " FROM " + p.quoted(member) + " m INNER JOIN " + p.quoted(join) +
			" j ON j." + name(join, "JoinId") + " = m." + name(member, "JoinId") + " WHERE j." + name(join, "Status") + " = 0)"
		for _, id := range []string{"Id", "MessageId"} { // the origin's descriptions allow both
			if c, ok := t.column(id); ok {
				free += " AND " + p.of(c) + pending
			}
		}
	}
	p.others = append(p.others, state{"in joins", p.waiting.text + " AND NOT (" + free + ")"})
	p.waiting.text += " AND " + free
	for i := range p.phases {
		p.phases[i] += " AND " + free
	}
}

// set is how a row says that it was moved: none of the origin's procedures takes it.
func set(d *dialect, t *table) string {
	var all []string
	for _, c := range t.columns {
		value := ""
		switch strings.ToLower(strings.ReplaceAll(c.name, "_", "")) {
		case "status", "statuscode":
			if value = "2"; c.isText() {
				value = "'Moved'"
			}
		case "isprocessed":
			value = c.bit(true)
		case "processedat", "endtime":
			value = d.nowFor(c)
		case "processedby":
			value = "'" + movedBy + "'"
		case "lockeduntil", "ownertoken":
			value = "NULL"
		default:
			continue
		}
		all = append(all, d.quote(c.name)+" = "+value)
	}
	return strings.Join(all, ", ")
}
