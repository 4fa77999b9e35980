package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bravellian/pawl/cmd/pawl/internal/importer"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
)

// importCmd is "pawl import".
type importCmd struct {
	Origin importOriginCmd `cmd:"" help:"Move what waits in the tables of the .NET platform that pawl comes from."`
	Table  importTableCmd  `cmd:"" help:"Move what waits in an outbox table of your own."`
}

// importFlags are those of both.
type importFlags struct {
	DryRun     bool `help:"Change nothing: count what would be moved, and say what would be refused and why."`
	Batch      int  `default:"500" placeholder:"N" help:"Rows to move in a transaction, at most 1000. Default: ${default}."`
	MaxPayload int  `default:"1048576" placeholder:"BYTES" help:"Refuse larger payloads. Default: ${default}."`
}

// importHelp is what holds for both.
const importHelp = `Each row becomes a message in the transaction that marks or deletes the row: whatever
ends the command, nothing is lost and nothing is doubled. Run it again to go on. Other programs may
work on the table meanwhile; rows that they have locked are left to them. It ends when
it finds nothing more to move.

Row ids that are UUIDs become the ids of messages; others are turned into one. What cannot become a message
stays where it is, is listed with the reason, and makes the exit code 1: a topic that is missing or too
long, a payload that is null or too large, an id that another message has.
`

// importOriginCmd is "pawl import origin".
type importOriginCmd struct {
	From    string `placeholder:"SCHEMA" help:"Schema of the tables. Default: dbo, public in PostgreSQL, none in SQLite."`
	Claimed bool   `help:"Also move what workers hold under a lease that has not expired: when none of them runs any more."`
	importFlags
}

// Help is printed by --help.
func (*importOriginCmd) Help() string {
	return importHelp + `
Rows of Outbox become messages, of Timers timers, and of JobRuns messages with topic and payload of their
job. Rows that are done or failed stay, and so do those that a worker holds until its lease has expired, and
messages that joins of the origin wait for. Rows that were moved have the status 2 (done), or Moved.

Examples:

    pawl import origin --db "$PAWL_DB" --from dbo --dry-run
    pawl import origin --db "$PAWL_DB" --from dbo`
}

// Run moves rows.
func (c *importOriginCmd) Run(ctx context.Context, a *app, g *options) error {
	return c.run(ctx, a, g, importer.Origin{Schema: c.From, Claimed: c.Claimed})
}

// importTableCmd is "pawl import table".
type importTableCmd struct {
	From    string   `required:"" placeholder:"TABLE" help:"The table, as TABLE or SCHEMA.TABLE."`
	Map     string   `required:"" placeholder:"FIELD=COLUMN,…" help:"Which columns the fields of a message come from: topic, payload, id (of the row, default id), key, due, ordering_key, correlation_id, queue. topic and queue may be a 'text' instead."`
	Pending []string `required:"" sep:"none" placeholder:"COLUMN=VALUE" help:"Which rows wait. Several values stand between |, no value means null. May be repeated: then all have to hold."`
	Moved   []string `sep:"none" placeholder:"COLUMN=VALUE" help:"What is set in rows that were moved; no value means null, now() the time. May be repeated."`
	Delete  bool     `help:"Delete rows that were moved instead."`
	Order   string   `placeholder:"COLUMN" help:"Move rows in the order of a column. Default: that of the id."`
	importFlags
}

// Help is printed by --help.
func (*importTableCmd) Help() string {
	return importHelp + `
Names of tables and columns are found as they are written, or else whatever their case and underscores; values are
converted by the database. An index that has the rows that wait in their order keeps each transaction
short.

Examples:

    pawl import table --from outbox_events --map topic=event_type,payload=data,due=due_at \
        --pending 'status=pending|failed' --moved status=moved --order created_at
    pawl import table --from shop.events --map "topic='order.created',payload=body,key=event_id" --pending sent_at= --delete`
}

// Run moves rows.
func (c *importTableCmd) Run(ctx context.Context, a *app, g *options) error {
	return c.run(ctx, a, g, importer.Table{From: c.From, Map: c.Map, Pending: c.Pending, Moved: c.Moved, Delete: c.Delete, Order: c.Order})
}

func (c *importFlags) run(ctx context.Context, a *app, g *options, from importer.Source) error {
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	pool, closed := target.SQL(s.DB)
	live := terminal.NewLive(a.stderr)
	reports, err := importer.Run(ctx, s.DB, pool, from, importer.Options{Batch: c.Batch, MaxPayload: c.MaxPayload, DryRun: c.DryRun,
		Progress: func(table string, moved int64) {
			live.Show(fmt.Sprintf("%s: %s moved", terminal.Clean(table), engine.Several(moved, "row")))
		}})
	live.Clear()
	err = s.close(cmp.Or(err, closed()))
	var refused int64
	for _, r := range reports {
		refused += r.Refused
		var printing error
		if g.JSON {
			printing = a.printJSON(r)
		} else {
			printing = a.printImported(&r, c.DryRun)
		}
		err = cmp.Or(err, printing)
	}
	if err == nil && refused > 0 {
		err = fmt.Errorf("%s cannot become messages and stay where they are", engine.Several(refused, "row"))
	}
	return err
}

// printImported prints what became of the rows of a table.
func (a *app) printImported(r *importer.Report, dry bool) error {
	text := fmt.Sprintf("%s: %d moved, %d refused, %d left", terminal.Clean(r.Table), r.Moved, r.Refused, r.Waiting-r.Refused)
	if dry {
		text = fmt.Sprintf("%s: %d would be moved, %d refused", terminal.Clean(r.Table), r.Moved, r.Refused)
	}
	for _, state := range slices.Sorted(maps.Keys(r.Others)) {
		text += fmt.Sprintf(", %d %s", r.Others[state], state)
	}
	for _, row := range r.Rows {
		text += fmt.Sprintf("\n  %s: %s", terminal.Clean(row.ID), terminal.Clean(row.Reason))
	}
	if more := r.Refused - int64(len(r.Rows)); more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}
