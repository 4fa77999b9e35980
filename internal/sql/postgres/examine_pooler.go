package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// pooler looks whether a session is one: a pooler that hands out the server's
// connections by the transaction loses what belongs to a session, LISTEN above
// all. Two of our connections are never the same one of the server, unless there
// is such a pooler: then the second gets, inside its transaction, what the first
// has just given back, and the first goes on with another.
func (x *examiner) pooler(ctx context.Context) ([]health.Finding, error) {
	first, err := x.acquire(ctx, "doctor/pooler")
	if err != nil {
		return nil, err
	}
	defer first.Release()
	before, err := backend(ctx, first)
	if err != nil {
		return nil, wrap("doctor/pooler", err, engine.ErrConnLost)
	}
	second, after := uint32(0), before
	if x.pool.Config().MaxConns > 1 {
		if second, after, err = x.occupySecond(ctx, first); err != nil {
			return nil, err
		}
	}
	return checkPooler(first.Conn().PgConn().PID(), before, second, after), nil
}

// occupySecond keeps a second connection in a transaction while the first is queried again.
func (x *examiner) occupySecond(ctx context.Context, first *pgxpool.Conn) (second, after uint32, err error) {
	other, err := x.acquire(ctx, "doctor/pooler")
	if err != nil {
		return 0, 0, err
	}
	defer other.Release()
	tx, err := other.Begin(ctx)
	if err == nil {
		second, err = backend(ctx, tx)
		if err == nil {
			after, err = backend(ctx, first)
		}
		_ = tx.Rollback(ctx)
	}
	return second, after, wrap("doctor/pooler", err, engine.ErrConnLost)
}

// backend returns the id of the server process that answers. A prepared statement would be
// lost together with its session.
func backend(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (pid uint32, err error) {
	err = q.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return pid, err
}

// checkPooler: told is the process that the first connection was told when it
// began, before and after those that answered it, second the one that answered the
// second meanwhile, 0 if there was none.
func checkPooler(told, before, second, after uint32) []health.Finding {
	switch {
	case before == second || before != after:
		return []health.Finding{engine.NewFinding(health.Warning,
			fmt.Sprintf("a connection pooler hands out connections by the transaction: one of ours was answered by server processes %d and %d, another by %d", before, after, second),
			"Have pawl's workers connect to the server directly, or to the pooler in session mode (pool_mode = session). Until then they poll (PollOnly says so from the start), and need default_query_exec_mode=exec in the URL.")}
	case second == 0:
		return []health.Finding{engine.NewFinding(health.Note, "a pool of one connection cannot tell whether a pooler stands between", "")}
	case told != before:
		return []health.Finding{engine.NewFinding(health.Note, fmt.Sprintf("a connection pooler stands between, and keeps sessions: our process is %d, the server's %d", told, before), "")}
	}
	return []health.Finding{engine.NewFinding(health.OK, fmt.Sprintf("sessions are the server's own (process %d)", before), "")}
}
