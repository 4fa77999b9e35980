package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

type pgconnParseError = pgconn.ParseConfigError

// classify returns the class of an error that the server reported, or nil.
func classify(err error) error {
	code := driverr.SQLState(err)
	switch code {
	case "22P05", "22021":
		return engine.ErrInvalid
	case "23505":
		return keyClass(err)
	case "23503":
		return engine.ErrReference
	case "40P01":
		return engine.ErrDeadlock
	case "40001":
		return engine.ErrSerialization
	case "25000":
		return engine.ErrIsolation
	case "55P03":
		return engine.ErrBusy
	case "57014":
		return engine.ErrTimeout
	case "25006":
		return engine.ErrReadOnly
	case movedState:
		return engine.MovedClass(err.Error())
	case "42P01", "42883", "3F000":
		return engine.ErrSchemaMissing
	case "53300", "57P03", "3D000", "28P01", "28000":
		return engine.ErrUnreachable
	}
	if strings.HasPrefix(code, "53") {
		return engine.ErrNoRoom
	}
	if strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P0") {
		return engine.ErrConnLost
	}
	return nil
}

// keyClass distinguishes positions that are taken from other keys. Positions are the primary
// keys of messages, runs, timers and runs of jobs.
func keyClass(err error) error {
	key := ""
	var pg *pgconn.PgError
	var fields interface{ Field(k byte) string }
	if errors.As(err, &pg) {
		key = pg.ConstraintName
	} else if errors.As(err, &fields) {
		key = fields.Field('n')
	}
	for _, position := range []string{"outbox_message_pkey", "outbox_ready_lo_key", "timer_pkey", "job_run_pkey"} {
		if strings.HasSuffix(key, position) {
			return engine.ErrPosition
		}
	}
	return engine.ErrUnique
}

// wrap adds the operation and the class to an error. cut is the class when the server did not
// answer: [engine.ErrConnLost], or [engine.ErrCommitUnknown] where the operation included its
// commit. pgx's "safe to retry" is not used: it was wrong for a connection lost at the reply
// to a commit (D-4).
func wrap(op string, err error, cut error) error {
	var known *engine.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	class := classify(err)
	if errors.Is(class, engine.ErrConnLost) || class == nil && broken(err) {
		class = cut
	}
	return &engine.Error{Op: op, Class: class, Err: reword(err)}
}

// rewordedError replaces an error whose own text would quote arguments, or has no advice.
type rewordedError struct {
	text string
	err  error
}

func (r *rewordedError) Error() string { return r.text }
func (r *rewordedError) Unwrap() error { return r.err }

// poolerAdvice is the text for statements that another session has prepared, or this one has
// not. Seen with PgBouncer 1.18.
const poolerAdvice = "prepared statements get mixed up, as behind a connection pooler that hands out connections by the transaction: " +
	"connect past it, to its session mode, or with default_query_exec_mode=exec in the URL"

// reword removes arguments from an error's text (D-5): PostgreSQL quotes a value that it
// cannot parse, pgx one that it cannot encode.
func reword(err error) error {
	code := driverr.SQLState(err)
	switch {
	case unstorable(err):
		return &rewordedError{unstorableText + " (SQLSTATE " + code + ")", err}
	case strings.HasPrefix(code, "22"):
		return &rewordedError{"a value is not acceptable (SQLSTATE " + code + ")", err}
	case strings.Contains(err.Error(), "unable to encode"):
		return &rewordedError{"an argument cannot be encoded", err}
	case code == "42P05" || code == "26000":
		return &rewordedError{poolerAdvice + " (SQLSTATE " + code + ")", err}
	}
	return err
}

// broken reports whether the server did not answer: a closed connection, or a context that
// ended first.
func broken(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	if driverr.SQLState(err) != "" {
		return false
	}
	return errors.As(err, &network) || errors.As(err, &connect) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
