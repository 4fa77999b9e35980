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

// signal is what a session reports: it stands at a pause, or has ended.
type signal struct {
	session int
	ended   bool
	// In a routine it waits for the advisory lock of this number; otherwise, between two calls,
	// for a value on its channel.
	key int64
	// The session stands before a transaction, with nothing of it begun.
	between bool
	err     error
	events  []Event // of the transaction that was committed
}

// session is a connection and the goroutine that runs transactions on it.
type session struct {
	nr      int
	conn    *pgx.Conn
	pid     uint32
	db      *postgres.DB
	table   func(string) string
	tokens  *sync.Map
	signals chan<- signal
	work    chan []Tx
	resume  chan struct{}
	retries int
}

// connect opens a session's connection. Its pauses arrive as notices: the server sends them at
// once, in the middle of a statement.
func connect(ctx context.Context, url string, s *session) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("interleave: %w", err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		var key int64
		if _, err := fmt.Sscanf(n.Message, noticeFormat, &key); err == nil {
			s.signals <- signal{session: s.nr, key: key}
		}
	}
	config.RuntimeParams["deadlock_timeout"] = "5ms"
	if s.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return fmt.Errorf("interleave: %w", err)
	}
	s.pid = s.conn.PgConn().PID()
	// A sequence of its own, since what a sequence gave is not taken back by a rollback.
	_, err = s.conn.Exec(ctx, "CREATE TEMPORARY SEQUENCE "+pauseSequence)
	return err
}

// loop runs lists of transactions until there are no more.
func (s *session) loop(ctx context.Context) {
	for work := range s.work {
		err := s.all(ctx, work)
		s.signals <- signal{session: s.nr, ended: true, err: err}
	}
}

func (s *session) all(ctx context.Context, work []Tx) error {
	for i := range work {
		if err := s.repeat(ctx, &work[i]); err != nil {
			return err
		}
	}
	return nil
}

// repeat runs a transaction, and again after errors after which pawl does.
func (s *session) repeat(ctx context.Context, tx *Tx) error {
	var events []Event
	err := engine.Retry(ctx, func() error {
		events = nil
		err := s.once(ctx, tx, &events)
		if err != nil && engine.Retryable(err) {
			s.retries++
		}
		return err
	})
	if err != nil || tx.Rollback {
		events = nil
	}
	s.signals <- signal{session: s.nr, key: committed, events: events}
	return err
}

func (s *session) once(ctx context.Context, work *Tx, events *[]Event) error {
	s.stop(true)
	tx, err := s.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // does nothing after a commit
	e := Env{DB: s.db, Session: s.nr, Table: s.table, events: events, tokens: s.tokens}.in(postgres.Tx(tx))
	for i, a := range work.Actions {
		if i > 0 {
			s.stop(false)
		}
		if err := a.Do(ctx, e); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	s.stop(false) // what it locked is locked
	if work.Rollback {
		return nil
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// stop waits until the session may go on.
func (s *session) stop(between bool) {
	s.signals <- signal{session: s.nr, between: between}
	<-s.resume
}

// Keys of signals that are not from within a routine.
const committed = -1
