package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// ErrMoved is the class of errors of a database whose store was moved, or is being moved, to
// another one. Nothing was written.
var ErrMoved = errors.New("store moved")

// MovedError says where a store is that was moved. It wraps [ErrMoved].
type MovedError struct{ place string }

// NewMovedError returns the error of a store that is at a place now; empty: that is being moved into
// the database.
func NewMovedError(place string) *MovedError { return &MovedError{place} }

// Place returns the address of the new database, without a password; empty while a store is
// moved into this one.
func (e *MovedError) Place() string { return e.place }

// Error names the place.
func (e *MovedError) Error() string {
	if e.place == "" {
		return "a store is being moved into this database"
	}
	return ErrMoved.Error() + " to " + e.place
}

// Unwrap returns ErrMoved.
func (e *MovedError) Unwrap() error { return ErrMoved }

// FenceText begins the text of the error that a fence raises; the place follows.
const FenceText = "pawl: moved to "

// MovedClass returns the class of an error whose text a fence raised, or nil. Drivers put
// texts of their own around it.
func MovedClass(text string) error {
	_, place, ok := strings.Cut(text, FenceText)
	if !ok {
		return nil
	}
	if place, _, ok = strings.Cut(place, fenceEnd); !ok {
		return nil
	}
	return NewMovedError(place)
}

// fenceEnd ends the place: no address has one.
const fenceEnd = "; nothing was written"

// Fence is what keeps all others from writing to a store that is moved.
type Fence struct {
	ID    [16]byte // of the move, whose own transactions it lets pass
	Place string   // see MovedError
}

// Text returns the text of the error that the fence raises.
func (f Fence) Text() string { return FenceText + f.Place + fenceEnd }

// Movable is a DB whose rows can be read and written as they are, so that a store can be moved
// to a database of another engine. Find it with [As].
type Movable interface {
	// TableRows returns up to n rows of a table in order of its key, above a key; nil for
	// all keys. It waits for nobody.
	TableRows(ctx context.Context, t *Table, above []any, n int) ([][]any, error)
	// PutRows adds rows in a transaction of InMove.
	PutRows(ctx context.Context, tx Tx, t *Table, rows [][]any) error
	// DeleteRow deletes the row of a key in a transaction of InMove.
	DeleteRow(ctx context.Context, tx Tx, t *Table, key []any) error
	// ClearTable deletes all rows in a transaction of InMove.
	ClearTable(ctx context.Context, tx Tx, t *Table) error
	// Analyze has the planner know what a table that was filled holds.
	Analyze(ctx context.Context, t *Table) error
	// InMove is InTx for what the fence of a move would keep from writing.
	InMove(ctx context.Context, id [16]byte, fn func(ctx context.Context, tx Tx) error) error
	// PutFence waits until no other transaction is open that has written to the tables, runs
	// fn, and makes all writes from then on fail with [ErrMoved]; all in one transaction. Locks
	// are waited for only briefly: it may have to be repeated, after ErrBusy.
	PutFence(ctx context.Context, f Fence, tables []Table, fn func(ctx context.Context, tx Tx) error) error
	// RemoveFence lets others write again, and runs fn in the same transaction.
	RemoveFence(ctx context.Context, f Fence, tables []Table, fn func(ctx context.Context, tx Tx) error) error
}

// Kind is the type of a column, by which engines convert its values.
type Kind int

// The kinds with the Go type of their values. Any may be nil.
const (
	Int      Kind = iota // int64
	Text                 // string
	Bytes                // []byte
	Payload              // []byte
	Bool                 // bool
	UUID                 // [16]byte
	Time                 // time.Time; zero: before all others
	Until                // time.Time: the end of a lease
	Duration             // time.Duration
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	// Own columns number rows within a database: they are not copied.
	Own bool
}

// Table is a table whose rows belong to a store.
type Table struct {
	Name    string
	Key     []string // columns that identify a row, in whose order rows are read
	Columns []Column
	// Shared rows may be there already.
	Shared bool
}

// KeyOf returns the key of a row.
func (t *Table) KeyOf(row []any) []any {
	key := make([]any, len(t.Key))
	for i, name := range t.Key {
		for k, c := range t.Columns {
			if c.Name == name {
				key[i] = row[k]
			}
		}
	}
	return key
}

// KeyColumns returns the columns of the key.
func (t *Table) KeyColumns() []Column {
	columns := make([]Column, len(t.Key))
	for i, name := range t.Key {
		for _, c := range t.Columns {
			if c.Name == name {
				columns[i] = c
			}
		}
	}
	return columns
}

// Quoted lists the columns in SQL.
func (t *Table) Quoted() string { return quotedNames(t.Columns) }

// KeyQuoted lists the columns of the key in SQL.
func (t *Table) KeyQuoted() string { return quotedNames(t.KeyColumns()) }

func quotedNames(columns []Column) string {
	return strings.Join(Mapped(columns, func(c *Column) string { return `"` + c.Name + `"` }), ", ")
}

// Copied returns the table without its own columns, and a function that takes the values of the
// others out of a row.
func (t *Table) Copied() (*Table, func(row []any) []any) {
	copied := &Table{Name: t.Name, Key: t.Key, Shared: t.Shared}
	var from []int
	for i, c := range t.Columns {
		if !c.Own {
			copied.Columns, from = append(copied.Columns, c), append(from, i)
		}
	}
	return copied, func(row []any) []any { return Mapped(from, func(at *int) any { return row[*at] }) }
}

// Messages is the name of the table of messages, whose rows never change.
const Messages = "outbox_message"

// Tables returns the tables that a store consists of, those that others refer to first. What
// is not among them belongs to the database: its generation, its schema, its workers, those who
// wait for leases, its audit trail.
func Tables() []Table {
	of := func(kind Kind, names ...string) []Column {
		return Mapped(names, func(name *string) Column { return Column{Name: *name, Kind: kind} })
	}
	ints := func(names ...string) []Column { return of(Int, names...) }
	table := func(name string, key string, columns ...[]Column) Table {
		return Table{Name: name, Key: strings.Fields(key), Columns: slices.Concat(columns...)}
	}
	lanes := table("outbox_lane", "id", ints("id", "priority", "kind"), of(Text, "queue", "topic"), of(Time, "asked"))
	lanes.Shared = true
	attempts := table("outbox_attempt", "id nr", ints("id", "attempt"), of(Time, "ended_at"), of(Text, "worker", "error"))
	attempts.Columns = append(attempts.Columns, Column{Name: "nr", Own: true})
	return []Table{
		lanes,
		table(Messages, "id", ints("id", "lane"), of(UUID, "message_id"), of(Bool, "supplied"), of(Time, "created_at", "due_at"), of(Text, "topic", "correlation_id", "headers"), of(Payload, "payload")),
		table("outbox_ready", "lo", ints("lane", "lo", "n", "retry", "suspect"), of(Time, "at")),
		table("outbox_claim", "lo", ints("lo", "n", "lane", "retry", "suspect"), of(Time, "at"), of(UUID, "owner"), of(Until, "locked_until")),
		table("outbox_done", "lo", ints("lo", "n"), of(Time, "processed_at"), of(UUID, "owner"), of(Text, "processed_by")),
		table("outbox_exception", "id", ints("id", "status", "retry_count", "redrives"), of(Time, "next_attempt_at", "updated_at", "failed_at"), of(Text, "last_error", "fingerprint"), of(UUID, "discard_id")),
		attempts,
		table("outbox_order", "id", ints("id", "lane"), of(Text, "key"), of(Bool, "head")),
		table("outbox_unique", "key", of(Text, "key"), ints("id"), of(UUID, "message_id"), of(Time, "enqueued_at", "until")),
		table("outbox_join", "join_id", of(UUID, "join_id"), of(Text, "grouping_key", "metadata"), ints("expected_steps", "completed_steps", "failed_steps", "status"), of(Time, "created_utc", "last_updated_utc", "deadline_utc")),
		table("outbox_join_member", "join_id outbox_message_id", of(UUID, "join_id", "outbox_message_id"), ints("id", "status"), of(Time, "created_utc")),
		table("outbox_join_wait", "id", ints("id"), of(UUID, "join_id"), of(Bool, "replaced")),
		table("outbox_join_result", "join_id id", of(UUID, "join_id"), ints("id"), of(Bytes, "result")),
		table("outbox_result", "id", ints("id"), of(Bytes, "result")),
		table("flow_step", "id name kind", ints("id", "kind", "nr", "retry", "signal"), of(Text, "name"), of(Time, "created_at"), of(Bytes, "result")),
		table("flow_signal", "id nr", ints("id", "nr"), of(Text, "name"), of(Time, "created_at"), of(Bytes, "payload")),
		table("flow_wait", "id", ints("id", "retry"), of(Text, "name"), of(Time, "since")),
		table("outbox_stopping", "id", ints("id"), of(UUID, "owner"), of(Text, "reason"), of(Time, "at")),
		table("outbox_bulk", "id", of(UUID, "id"), of(Text, "action", "ids", "topic", "queue", "error", "target", "actor", "reason", "stopped_by", "fingerprint"), ints("most", "rate", "total", "n", "last"),
			of(Time, "failed_since", "failed_before", "created_at", "at", "stepped_at", "ended_at")),
		table("outbox_pause", "kind name", of(Text, "kind", "name", "actor", "reason"), ints("lane"), of(Time, "at"), of(Bool, "ending")),
		table("outbox_limit", "kind name", of(Text, "kind", "name", "actor", "reason", "pattern", "declared"), ints("concurrency", "rate", "burst"), of(Duration, "period"), of(Time, "next_at", "at")),
		table("outbox_limit_claim", "kind name id", of(Text, "kind", "name"), ints("id")),
		table("inbox", "source message_id", of(Text, "source", "message_id", "status", "last_error"), of(Bytes, "hash"), of(Time, "first_seen_utc", "last_seen_utc", "processed_utc"),
			ints("deliveries", "attempts", "mismatches"), of(UUID, "token"), of(Until, "locked_until_utc")),
		table("lease", "name", of(Text, "name", "owner"), of(Until, "lease_until_utc"), of(Time, "last_granted_utc"), ints("token"), of(UUID, "holder")),
		table("timer", "id", ints("id", "status", "retry_count", "suspect", "lane"), of(UUID, "timer_id", "owner"), of(Bool, "supplied"), of(Text, "key", "topic", "correlation_id", "headers", "last_error"),
			of(Time, "due_time", "at", "claimed_at", "created_at", "processed_at"), of(Until, "locked_until"), of(Payload, "payload")),
		table("job", "id", of(UUID, "id"), of(Text, "name", "topic", "headers", "schedule", "zone", "last_error"), of(Payload, "payload"), ints("lane", "misfire", "misfire_limit", "overlap", "spread", "shift", "last_run", "version"),
			of(Bool, "enabled"), of(Time, "next_time", "due_at", "created_at", "updated_at")),
		table("declared", "owner nr", of(Text, "owner", "version"), ints("nr"), of(Time, "at")),
		table("job_run", "id", ints("id", "missed", "outcome", "retry_count"), of(UUID, "run_id", "job_id"), of(Text, "job_name", "claimed_by", "last_error"), of(Time, "scheduled_time", "created_at", "start_time", "end_time"), of(Bool, "triggered")),
	}
}
