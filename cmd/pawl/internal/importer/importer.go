// Package importer moves rows of other outbox tables into pawl, in the database that both are in: each in the
// transaction that marks or deletes it. So a process that is killed at any point loses no row and doubles none, and
// whoever runs it again goes on where it stopped.
package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Options say how rows are moved. The zero value moves them, 500 a transaction.
type Options struct {
	Batch      int  // rows a transaction, at most MaxBatch
	MaxPayload int  // bytes; larger ones are refused
	DryRun     bool // change nothing
	// Progress is called with the rows of a table that were moved so far; may be nil.
	Progress func(table string, moved int64)
}

const (
	defaultBatch = 500
	// MaxBatch is the largest batch: statements have a parameter for each row, and SQL Server takes 2 100.
	MaxBatch = 1000
	// maxShown is how many refused rows a report names.
	maxShown = 100
)

// Source is what rows are moved from: an Origin or a Table.
type Source interface {
	plans(ctx context.Context, db *sql.DB, d *dialect) ([]*plan, error)
}

// Report is what became of the rows of a table.
type Report struct {
	Table   string           `json:"table"`
	Moved   int64            `json:"moved"` // in a dry run: that would be
	Refused int64            `json:"refused"`
	Rows    []Refusal        `json:"refused_rows,omitempty"` // the first of them
	Waiting int64            `json:"waiting"`                // that are left, refused or locked by others
	Others  map[string]int64 `json:"others,omitempty"`       // by state, when it ended
}

// Refusal is a row that cannot become a message, and stays as it is.
type Refusal struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Run moves rows until none waits that can be moved, and reports about every table, also if it ends with an error.
// sqlDB is the pool of db.
func Run(ctx context.Context, db engine.DB, sqlDB *sql.DB, from Source, o Options) (reports []Report, err error) {
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	if o.MaxPayload == 0 {
		o.MaxPayload = limits.Payload
	}
	if err := engine.CheckOption("batch", o.Batch, 1, MaxBatch); err != nil {
		return nil, err
	}
	plans, err := from.plans(ctx, sqlDB, dialectOf(db.Engine()))
	if err != nil {
		return nil, err
	}
	added := &counting{DB: db}
	p, err := pawl.New(added, pawl.Options{MaxPayload: o.MaxPayload, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	for _, plan := range plans {
		m := &mover{plan: plan, Options: o, db: sqlDB, added: added, pawl: p, report: Report{Table: plan.name}}
		err := m.run(ctx)
		reports = append(reports, m.report)
		if err != nil {
			return reports, fmt.Errorf("table %s: %w", plan.name, err)
		}
	}
	return reports, nil
}

// counting counts the messages that statements in a caller's transaction add: one whose id is known is not.
type counting struct {
	engine.DB
	n int64
}

// Unwrap returns the database.
func (c *counting) Unwrap() engine.DB { return c.DB }

// DoTx runs a call.
func (c *counting) DoTx(ctx context.Context, tx engine.Tx, call *engine.Call) error {
	err := c.DB.DoTx(ctx, tx, call)
	if _, ok := call.Operation.(op.OutboxEnqueueOnce); ok {
		c.n += call.N
	}
	return err
}

// mover moves the rows of one table.
type mover struct {
	*plan
	Options
	db     *sql.DB
	added  *counting
	pawl   *pawl.Pawl
	report Report
	sure   bool // rows that were marked do not wait any more
}

// errKnown is why a row is refused whose message would not be stored.
var errKnown = engine.Invalid("id", "another message has it")

func (m *mover) run(ctx context.Context) error {
	pass := m.pass
	if m.DryRun {
		pass = m.peekAll
	}
	for {
		m.report.Refused, m.report.Rows = 0, nil // they are met again
		moved, err := pass(ctx)
		m.report.Moved += moved
		if err != nil {
			return err
		}
		if moved == 0 || m.DryRun {
			break
		}
	}
	var err error
	m.report.Waiting, m.report.Others, err = m.count(ctx, m.db)
	return err
}

// pass goes once over the rows that wait.
func (m *mover) pass(ctx context.Context) (moved int64, err error) {
	for _, phase := range m.phases {
		n, err := m.passOf(ctx, phase, moved)
		if moved += n; err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// passOf is pass for a phase. Rows that are refused stay in front of the others, and are skipped.
func (m *mover) passOf(ctx context.Context, phase string, before int64) (moved int64, err error) {
	for skip := 0; ; {
		all, err := m.batch(ctx, phase, skip, false)
		if errors.Is(err, errKnown) {
			all, err = m.batch(ctx, phase, skip, true)
		}
		if err != nil {
			return moved, err
		}
		for _, r := range all {
			if r.err != nil {
				skip++
				m.refuse(r)
			} else {
				moved++
			}
		}
		if m.Progress != nil {
			m.Progress(m.name, m.report.Moved+before+moved)
		}
		if len(all) < m.Batch {
			return moved, nil
		}
	}
}

// batch moves rows in one transaction, all that are not refused. Without single it fails with errKnown if one of them
// has an id that is known; with single it finds out which, by a statement for each.
func (m *mover) batch(ctx context.Context, phase string, skip int, single bool) (all []*row, err error) {
	clock, _, err := engine.Get(ctx, m.added, op.ClockNow{})
	if err != nil {
		return nil, err
	}
	tx, err := m.db.BeginTx(ctx, m.isolation())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rollback(tx)) }()
	rows, err := tx.QueryContext(ctx, m.pick(phase, skip, m.Batch), m.waiting.args...)
	if err != nil {
		return nil, err
	}
	if err := m.read(rows, clock.Now, func(r *row) error { all = append(all, r); return nil }); err != nil {
		return nil, err
	}
	if err := m.write(ctx, tx, all, single); err != nil {
		return nil, err
	}
	if err := m.mark(ctx, tx, all); err != nil {
		return nil, err
	}
	return all, tx.Commit()
}

// isolation is the one in which rows that others have locked can be skipped. SQLite has one alone.
func (d *dialect) isolation() *sql.TxOptions {
	if d.engine == "sqlite" {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
}

// rollback ends a transaction that has not committed.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

// write stores the messages of rows that are not refused.
func (m *mover) write(ctx context.Context, tx *sql.Tx, all []*row, single bool) error {
	if m.timers {
		return m.schedule(ctx, tx, all)
	}
	var msgs []outbox.Message
	for i, r := range all {
		if r.err == nil {
			msgs = append(msgs, r.message)
		}
		if len(msgs) == 0 || !single && i < len(all)-1 {
			continue
		}
		m.added.n = 0
		_, err := m.pawl.Outbox.EnqueueBatchTx(ctx, tx, msgs)
		switch known := m.added.n < int64(len(msgs)); {
		case err != nil:
			return err
		case known && single:
			r.err = errKnown
		case known:
			return errKnown
		}
		msgs = nil
	}
	return nil
}

// schedule is write for timers, of which no statement says whether their ids were known.
func (m *mover) schedule(ctx context.Context, tx *sql.Tx, all []*row) error {
	var timers []timer.Timer
	for _, r := range all {
		if r.err != nil {
			continue
		}
		switch _, err := m.pawl.Timers.Get(ctx, r.message.ID); {
		case err == nil:
			r.err = errKnown
		case errors.Is(err, timer.ErrNotFound):
			timers = append(timers, timer.Timer{ID: r.message.ID, Due: r.message.Due, Topic: r.message.Topic, Payload: r.message.Payload, CorrelationID: r.message.CorrelationID})
		default:
			return err
		}
	}
	_, err := m.pawl.Timers.ScheduleBatchTx(ctx, tx, timers)
	return err
}

// mark marks the rows whose messages are stored.
func (m *mover) mark(ctx context.Context, tx *sql.Tx, all []*row) error {
	var keys []any
	for _, r := range all {
		if r.err == nil {
			keys = append(keys, r.key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	text, args := m.settle(keys)
	result, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != int64(len(keys)) {
		return errors.Join(err, engine.Invalid("id", "it identifies %d rows, not %d: nothing of this batch was moved", n, len(keys)))
	}
	if m.sure {
		return nil
	}
	var left int64
	text, args = m.still(keys)
	if err := tx.QueryRowContext(ctx, text, args...).Scan(&left); err != nil {
		return err
	}
	if left > 0 {
		return engine.Invalid("moved", "rows that were moved still wait: nothing was moved")
	}
	m.sure = true
	return nil
}

func (m *mover) refuse(r *row) {
	m.report.Refused++
	if len(m.report.Rows) < maxShown {
		m.report.Rows = append(m.report.Rows, Refusal{ID: shown(r.key), Reason: r.err.Error()})
	}
}

// peekAll is what pass would do, of all rows but those that others have locked. An id that rows of two batches share is
// met by pass alone.
func (m *mover) peekAll(ctx context.Context) (would int64, err error) {
	clock, _, err := engine.Get(ctx, m.added, op.ClockNow{})
	if err != nil {
		return 0, err
	}
	rows, err := m.db.QueryContext(ctx, m.peek(), m.waiting.args...)
	if err != nil {
		return 0, err
	}
	var all []*row
	err = m.read(rows, clock.Now, func(r *row) error {
		if all = append(all, r); len(all) < m.Batch {
			return nil
		}
		n, err := m.try(ctx, all)
		would, all = would+n, nil
		return err
	})
	if err != nil {
		return would, err
	}
	n, err := m.try(ctx, all)
	return would + n, err
}

// try counts the rows that could be moved: whether an id is known says an attempt that is rolled back.
func (m *mover) try(ctx context.Context, all []*row) (would int64, err error) {
	err = m.undone(ctx, all, false)
	if errors.Is(err, errKnown) {
		err = m.undone(ctx, all, true)
	}
	for _, r := range all {
		if r.err != nil {
			m.refuse(r)
		} else {
			would++
		}
	}
	return would, err
}

// undone is write in a transaction that is rolled back.
func (m *mover) undone(ctx context.Context, all []*row, single bool) (err error) {
	tx, err := m.db.BeginTx(ctx, m.isolation())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rollback(tx)) }()
	return m.write(ctx, tx, all, single)
}
