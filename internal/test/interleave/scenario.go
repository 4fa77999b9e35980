package interleave

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
)

// Scenario is a state of a database, and sessions that change it at once.
type Scenario struct {
	Name string
	// Setup is run before, each action in a transaction of its own.
	Setup []Action
	// Sessions are the transactions of each session, one after the other.
	Sessions [][]Tx
	// Keys are ordering keys by position.
	Keys map[int64]string
	// Serial says that the outcome has to be that of some order of whole transactions. It does
	// not hold where a claim steps around what another session has locked.
	Serial bool
	// Replaces says that timers end as cancelled which nobody cancels: others take their keys.
	Replaces bool
	// Kept are schedules that found a planted fault, which a run of few schedules might miss.
	Kept []string
}

// Tx is one transaction of a session.
type Tx struct {
	Actions  []Action
	Rollback bool // it is rolled back at its end
}

// Action is one call in a transaction.
type Action struct {
	Name string
	Do   func(ctx context.Context, e *Env) error
}

// Env is where an action runs.
type Env struct {
	DB      engine.DB
	Tx      engine.Tx
	Session int
	Table   func(name string) string // the qualified name of a table or routine
	events  *[]Event
	tokens  *sync.Map // of the lease, by holder

	numbered *numberedTx
}

func (e *Env) granted(holder string, token int64) {
	if token > 0 {
		e.tokens.Store(holder, token)
	}
}

// token returns that under which a holder was last granted the lease.
func (e *Env) token(holder string) int64 {
	token, _ := e.tokens.Load(holder)
	n, _ := token.(int64)
	return n
}

// numbers runs the test's own query of one column.
func (e *Env) numbers(ctx context.Context, query string, args ...any) (list []int64, err error) {
	query = qualify(query, e.Table)
	if tx, ok := postgres.Pgx(e.Tx); ok {
		rows, err := tx.Query(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[int64])
	}
	q, err := engine.QuerierOf(e.Tx)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
}

// in returns e for actions of a transaction.
func (e Env) in(tx engine.Tx) *Env {
	if own, ok := postgres.Pgx(tx); ok {
		e.numbered = &numberedTx{Tx: own}
		tx = postgres.Tx(e.numbered)
	}
	e.Tx = tx
	return &e
}

// Call runs calls in the action's transaction.
func (e *Env) Call(ctx context.Context, calls ...*engine.Call) error {
	for _, c := range calls {
		if err := e.DB.DoTx(ctx, e.Tx, c); err != nil {
			return err
		}
		if e.numbered != nil && c.Each != nil && !engine.ReturnsRows(c.Operation) {
			c.N = e.numbered.last
		}
	}
	return nil
}

// numberedTx keeps the number that an operation returned: PostgreSQL's DoTx answers how many rows
// there were, since no component needs such operations in a transaction with others. Here they
// are, so that sessions can be stopped before the commit.
type numberedTx struct {
	pgx.Tx
	last int64
}

// Exec runs a statement, and keeps what it returned.
func (t *numberedTx) Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error) {
	rows, err := t.Query(ctx, statement, args...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	defer rows.Close()
	for rows.Next() {
		if values, err := rows.Values(); err == nil && len(values) == 1 {
			t.last, _ = values[0].(int64)
		}
	}
	rows.Close()
	return rows.CommandTag(), rows.Err()
}

// Exec runs the test's own statement in the action's transaction. "pawl.x" stands for a table.
func (e *Env) Exec(ctx context.Context, statement string) error {
	_, err := e.Tx.ExecContext(ctx, qualify(statement, e.Table))
	return err
}

// Postgres reports whether the database is PostgreSQL.
func (e *Env) Postgres() bool { return e.DB.Engine() == "postgres" }

// Saw records what the action was answered. It counts only if its transaction commits.
func (e *Env) Saw(v Event) {
	v.Session = e.Session
	*e.events = append(*e.events, v)
}

// Kind is what an event is about.
type Kind string

// The kinds of events.
const (
	Claimed  Kind = "claimed"  // ID under Owner
	Acked    Kind = "acked"    // N of ID … ID+Of−1 under Owner
	Failed   Kind = "failed"   // likewise
	Retried  Kind = "retried"  // likewise
	Extended Kind = "extended" // likewise
	Granted  Kind = "granted"  // a lease, with token N
	Guarded  Kind = "guarded"  // a lease with token N, until the transaction ended
	Renewed  Kind = "renewed"  // N is 1 or 0
	Canceled Kind = "canceled" // N of messages or timers
	Fired    Kind = "fired"    // N timers
	Reported Kind = "reported" // a step, by hand
	Counted  Kind = "counted"  // what another operation answered
)

// Event is what a committed transaction was answered.
type Event struct {
	Session int
	Kind    Kind
	Owner   string
	ID, Of  int64
	N       int64
	// Stranger says that the owner never held what it settles.
	Stranger bool
}

func (v Event) String() string {
	return fmt.Sprintf("%c %s owner=%q id=%d of=%d n=%d", 'A'+v.Session, v.Kind, v.Owner, v.ID, v.Of, v.N)
}

// One returns a transaction of these actions.
func One(actions ...Action) Tx { return Tx{Actions: actions} }
