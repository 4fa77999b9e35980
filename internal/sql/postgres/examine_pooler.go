package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// poolerRounds is how often a pooler may answer as if it kept sessions: one that has several
// connections free, gives them back late or hands them out in turn does so once in a while.
const poolerRounds = 10

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
	told := first.Conn().PgConn().PID()
	var s sessions
	for range poolerRounds {
		if s, err = x.askSessions(ctx, first); err != nil {
			return nil, wrap("doctor/pooler", err, engine.ErrConnLost)
		}
		if s.second == 0 || s.shared() || s.before == told {
			break
		}
	}
	return checkPooler(told, s), nil
}

// sessions are the server's processes that answered: the first connection before and after
// the second did, which is 0 if there was none.
type sessions struct{ before, second, after uint32 }

// shared reports whether processes go from one connection to another.
func (s sessions) shared() bool { return s.before == s.second || s.before != s.after }

// askSessions asks the first connection twice, as connections that are handed out in turn show
// themselves, and again while a second one is in a transaction.
func (x *examiner) askSessions(ctx context.Context, first *pgxpool.Conn) (s sessions, err error) {
	if s.before, err = backend(ctx, first); err != nil {
		return s, err
	}
	if s.after, err = backend(ctx, first); err != nil || s.shared() || x.pool.Config().MaxConns == 1 {
		return s, err
	}
	other, err := x.acquire(ctx, "doctor/pooler")
	if err != nil {
		return s, err
	}
	defer other.Release()
	tx, err := other.Begin(ctx)
	if err != nil {
		return s, err
	}
	if s.second, err = backend(ctx, tx); err == nil {
		s.after, err = backend(ctx, first)
	}
	_ = tx.Rollback(ctx)
	return s, err
}

// backend returns the id of the server process that answers. A prepared statement would be
// lost together with its session.
func backend(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (pid uint32, err error) {
	err = q.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	return pid, err
}

// checkPooler: told is the process that the first connection was told when it began.
func checkPooler(told uint32, s sessions) []health.Finding {
	switch {
	case s.shared():
		text := fmt.Sprintf("a connection pooler hands out connections by the transaction: one of ours was answered by server processes %d and %d", s.before, s.after)
		if s.second != 0 {
			text += fmt.Sprintf(", another by %d", s.second)
		}
		return []health.Finding{engine.NewFinding(health.Warning, text,
			"Have pawl's workers connect to the server directly, or to the pooler in session mode (pool_mode = session). Until then they poll (PollOnly says so from the start), and need default_query_exec_mode=exec in the URL.")}
	case s.second == 0:
		return []health.Finding{engine.NewFinding(health.Note, "a pool of one connection cannot tell whether a pooler stands between", "")}
	case told != s.before:
		return []health.Finding{engine.NewFinding(health.Note, fmt.Sprintf("a connection pooler stands between, and keeps sessions: our process is %d, the server's %d", told, s.before), "")}
	}
	return []health.Finding{engine.NewFinding(health.OK, fmt.Sprintf("sessions are the server's own (process %d)", s.before), "")}
}
