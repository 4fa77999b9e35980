package engine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/bravellian/pawl/internal/driverr"
)

// Classes of failure. errors.Is finds the class in every error of an engine that belongs to
// one; errors.As finds the driver's own error.
var (
	// ErrUnique: a unique key is taken.
	ErrUnique = errors.New("unique key violated")
	// ErrPosition: the position of a new message, timer or run is taken, which happens when
	// the database lost positions that it had allocated. Nothing was stored; in a
	// transaction of its own pawl takes other positions and tries again. A caller's
	// transaction is to be rolled back and repeated.
	ErrPosition = fmt.Errorf("position taken: %w", ErrUnique)
	// ErrGeneration: the database's history changed since the call was prepared; nothing was
	// sent. pawl prepares it again.
	ErrGeneration = errors.New("the database's history changed")
	// ErrReference: what a new row refers to does not exist, or no longer exists.
	ErrReference = errors.New("referenced row missing")
	// ErrDeadlock: the database rolled this transaction back to end a deadlock.
	ErrDeadlock = errors.New("deadlock")
	// ErrSerialization: concurrent transactions could not be serialized.
	ErrSerialization = errors.New("serialization failure")
	// ErrIsolation: the caller's transaction runs at an isolation level that this
	// call cannot use. It needs read committed.
	ErrIsolation = errors.New("isolation level not supported")
	// ErrBusy: a lock was not granted in time.
	ErrBusy = errors.New("database busy")
	// ErrUnavailable is what ErrTimeout, ErrConnLost and ErrUnreachable are for programs: no fault of
	// theirs, and repeating helps once the database can be used.
	ErrUnavailable = errors.New("database unavailable")
	// ErrTimeout: a statement exceeded its deadline.
	ErrTimeout error = unavailable("statement deadline exceeded")
	// ErrConnLost: the connection broke; nothing of the call took effect.
	ErrConnLost error = unavailable("connection lost")
	// ErrUnreachable: no connection could be made.
	ErrUnreachable error = unavailable("database unreachable")
	// ErrCommitUnknown: the connection died or the context ended while the
	// commit was under way; it may or may not have happened (D-4).
	ErrCommitUnknown = errors.New("commit outcome unknown")
	// ErrNotReady: the server takes no connections, as while it starts. It is an
	// ErrUnreachable that is worth waiting for.
	ErrNotReady = fmt.Errorf("%w, it takes no connections", ErrUnreachable)
	// ErrFileLost: the files of a database were moved, deleted or replaced while it was open.
	// Nothing is written until they are back or the database was opened again.
	ErrFileLost = errors.New("database file lost")
	// ErrNoRoom: the database lacks room for what was to be written, on its disk or in memory.
	ErrNoRoom = errors.New("no room left")
	// ErrReadOnly: the database does not accept writes.
	ErrReadOnly = errors.New("database is read-only")
	// ErrNoPrimary: the connection string asks for a server that takes writes, and none of
	// those that answered does, as during a failover. It is an ErrNotReady and an
	// ErrReadOnly.
	ErrNoPrimary error = noPrimary{}
	// ErrUncommitted: an open transaction may have added work, and its commit wakes nobody.
	ErrUncommitted = errors.New("a transaction that may add work is open")
	// ErrSchemaMissing: pawl's tables are not there; run Migrate.
	ErrSchemaMissing = errors.New("schema missing")
	// ErrSchemaOld: the schema is older than this build; run Migrate.
	ErrSchemaOld = errors.New("schema too old")
	// ErrSchemaNew: a newer build migrated this schema; update this one.
	ErrSchemaNew = errors.New("schema too new")
	// ErrSchemaChanged: an applied migration differs from this build's text.
	ErrSchemaChanged = errors.New("schema migration changed after it was applied")
	// ErrSchemaDistributed: the database distributes pawl's tables over several nodes, where
	// they do not work.
	ErrSchemaDistributed = errors.New("schema distributed over nodes")
	// ErrClosed: the database was closed.
	ErrClosed = errors.New("database closed")
)

type unavailable string

func (u unavailable) Error() string      { return string(u) }
func (unavailable) Is(target error) bool { return target == ErrUnavailable }

type noPrimary struct{}

func (noPrimary) Error() string   { return "no server takes writes" }
func (noPrimary) Unwrap() []error { return []error{ErrNotReady, ErrReadOnly} }

// Error is a failed operation: its name, the class of the failure and the driver's error.
// Its text contains no arguments: they may be payloads (D-5).
type Error struct {
	Op    string // the operation, e.g. "outbox/claim"
	Class error  // one of the classes above, or nil
	Err   error  // the driver's error
}

// Error describes the failure without any payload.
func (e *Error) Error() string {
	text := e.Op + ": "
	if e.Class != nil {
		text += e.Class.Error() + ": "
	}
	text += strings.Join(strings.Fields(e.Err.Error()), " ") // drivers write several lines; a log has one
	if errors.Is(e.Class, ErrSchemaMissing) {
		text += ": " + remedy
	}
	return text
}

// remedy is the advice for a schema that is missing or older than the program.
const remedy = "run `pawl migrate` or call Migrate"

// Unwrap returns the class and the driver's error.
func (e *Error) Unwrap() []error {
	if e.Class == nil {
		return []error{e.Err}
	}
	return []error{e.Class, e.Err}
}

// Retryable reports whether running the same transaction again can succeed: it changed
// nothing, and the failure is transient. A driver's own error counts as pawl's do: in one transaction
// it may be a statement of either that fails.
func Retryable(err error) bool {
	if errors.Is(err, ErrDeadlock) || errors.Is(err, ErrSerialization) || errors.Is(err, ErrBusy) {
		return true
	}
	var known *Error
	return !errors.As(err, &known) && driverr.Transient(err)
}

// Unavailable reports whether the database itself could not be used, so that a loop should
// back off instead of reporting a failure of its work. A database that takes no writes is
// one: a primary that was demoted, until its successor is found, or one whose disk is full; and
// so is one whose store was moved.
func Unavailable(err error) bool {
	return errors.Is(err, ErrConnLost) || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrReadOnly) || errors.Is(err, ErrNoRoom) ||
		errors.Is(err, ErrFileLost) || errors.Is(err, ErrMoved) || errors.Is(err, ErrCommitUnknown) || errors.Is(err, ErrTimeout) || Retryable(err)
}

// Temporary reports whether what a program does when it starts is worth another try: the server does
// not take connections yet, or the connection broke or timed out. A database that does not exist, a
// wrong password and a host that nobody knows are not.
func Temporary(err error) bool {
	var network net.Error
	return errors.Is(err, ErrNotReady) || errors.Is(err, ErrFileLost) || errors.Is(err, ErrConnLost) || errors.Is(err, ErrTimeout) || errors.Is(err, ErrCommitUnknown) ||
		Retryable(err) || errors.Is(err, ErrUnreachable) && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) && !unknownHost(err))
}

// unknownHost reports whether the name of a host was not found.
func unknownHost(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}
