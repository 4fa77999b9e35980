package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

// What encloses a statement in a caller's transaction. The transaction keeps its settings:
// those that are made here end with the batch. Waiting for a lock and then reading what its
// holder wrote needs an isolation level at which every statement reads what is committed:
// not SNAPSHOT or READ UNCOMMITTED.
//
// An error ends its statement and, by TRY, those after it; what was done before stays until
// the caller rolls back, unless XACT_ABORT is ON.
const (
	guardFormat = `SET NOCOUNT ON;
IF @@TRANCOUNT = 0 THROW %d, 'no transaction is open', 1;
IF EXISTS (SELECT 1 FROM sys.dm_exec_sessions s WHERE s.session_id = @@SPID AND s.transaction_isolation_level NOT IN (2, 3, 4))
  THROW %d, 'this transaction is SNAPSHOT or READ UNCOMMITTED, and needs READ COMMITTED', 1;
BEGIN TRY
`
	guarded = `END TRY
BEGIN CATCH
THROW;
END CATCH`
)

func guard() string { return fmt.Sprintf(guardFormat, errNoTransaction, errIsolation) }

// within returns the batch of a statement in a caller's transaction.
func (t *text) within() string {
	var b strings.Builder
	b.WriteString(guard())
	t.call(&b, t.foreign, 0)
	b.WriteString(guarded)
	return b.String()
}

// DoTx runs one call in the caller's transaction.
func (db *DB) DoTx(ctx context.Context, tx engine.Tx, call *engine.Call) error {
	s, err := db.statement(call.Operation)
	if err != nil {
		return err
	}
	if err := engine.CheckTx(tx); err != nil {
		return wrap(call.Name(), err, engine.ErrConnLost)
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	args, err := db.arguments(s.Args(nil, call.Operation, nil))
	if err != nil {
		return &engine.Error{Op: call.Name(), Err: err}
	}
	if len(args) == 0 { // the driver sends a batch without arguments as it is, and NOCOUNT would stay
		args = append(args, 0)
	}
	if err = db.runTx(ctx, engine.Plain(tx), db.textOf(s), args, call); err == nil {
		return nil
	}
	if driverr.HasNumber(err, errNoTransaction) {
		return wrap(call.Name(), engine.NotInTransaction(tx), engine.ErrConnLost)
	}
	return db.refusedTx(ctx, tx, db.failed(call.Name(), err, engine.ErrConnLost))
}

// runTx sends a batch in the caller's transaction, and reads its result.
func (db *DB) runTx(ctx context.Context, tx engine.Tx, t *text, args []any, call *engine.Call) error {
	if !t.rows {
		res, err := tx.ExecContext(ctx, t.batch, args...)
		if err == nil {
			call.N, err = res.RowsAffected()
		}
		return err
	}
	q, err := engine.QuerierOf(tx)
	if err != nil {
		return err
	}
	call.Begin()
	rows, err := q.QueryContext(ctx, t.batch, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	err = answer(rows, answering{call: call, each: call.Each})
	for rows.NextResultSet() { // or the driver cancels what it has not read
	}
	return orElse(err, rows.Err())
}

const (
	beginTx  = "begin"
	commitTx = "commit"
)

// InTx runs fn in a transaction of its own: a *sql.Tx.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context, tx engine.Tx) error) error {
	wait, stop := context.WithTimeout(ctx, db.opts.StatementTimeout)
	conn, err := db.acquire(wait, beginTx)
	stop()
	if err != nil {
		return err
	}
	defer db.release(conn)
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return wrap(beginTx, err, engine.ErrConnLost)
	}
	defer tx.Rollback() // does nothing after a commit
	inside, end := db.InsideTx(ctx)
	defer end()
	if err := fn(inside, tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return wrap(commitTx, err, engine.ErrCommitUnknown)
	}
	db.notifier.NotifyAll() // fn may have enqueued
	return nil
}
