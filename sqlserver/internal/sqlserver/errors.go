package sqlserver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

// Numbers of errors that pawl's own procedures and statements throw. What the first digit
// of the last two says: 0 what is wrong with the transaction, 1 with an argument, 2 with
// what an argument names. docs/sqlserver.md lists them.
const (
	errIsolation     = 57100 // the transaction's isolation level
	errNoTransaction = 57101
	errVictim        = 57102 // a deadlock over an application lock, which ends nothing by itself
	errLockTimeout   = 57103 // an application lock was not to be had in time
	errMoved         = 57104 // the store was moved, or is being moved
	errInvalid       = 57110 // an argument is refused
	errNull          = 57111 // an argument is null
	errReference     = 57120 // what an argument refers to is not there
	errUnknownRow    = 57121 // no such message, join, timer or job
	errLeaseLost     = 57122
	errNowhere       = 57123 // a message is in no place
)

// errHint is what the server says of READPAST where READ_COMMITTED_SNAPSHOT is not what
// pawl takes it to be.
const errHint = 650

// classify returns the class of an error that the server reported, or nil: that of the first
// number that has one. It goes by numbers and by names of pawl's own, never by the server's words:
// those are in the login's language.
func classify(err error) error {
	numbers := driverr.Numbers(err)
	if slices.Contains(numbers, errMoved) {
		return movedClass(err)
	}
	for _, n := range numbers {
		if class := classOf(n, err); class != nil {
			return class
		}
	}
	return nil
}

func classOf(n int, err error) error {
	switch n {
	case 2627, 2601:
		return whichKey(n, err)
	case 547: // a foreign key, by the beginning of the name that the server gives it; a check is no reference
		if strings.Contains(err.Error(), "FK__") {
			return engine.ErrReference
		}
	case errReference:
		return engine.ErrReference
	case 1205, errVictim:
		return engine.ErrDeadlock
	case 3960, 3961:
		return engine.ErrSerialization
	case errIsolation, 3951, 3952, 3953:
		return engine.ErrIsolation
	case 601, 701, 1204, 1222, 8645, 9002, 10928, 10929, 40501, 49918, 49919, 49920, errLockTimeout:
		return engine.ErrBusy
	case 1101, 1105:
		return engine.ErrNoRoom
	case 3906, 3908:
		return engine.ErrReadOnly
	case 207, 208, 2812, 2715, 2760:
		return engine.ErrSchemaMissing
	case 20, 4060, 4064, 4221, 18401, 18456, 18452, 18470, 18487, 18488, 40143, 40532, 40540, 40613, 40197, 42108, 42109, 17142, 17187:
		return engine.ErrUnreachable
	case 64, 6005, 596, 233, 10053, 10054, 10060, 983, 976, 978:
		return engine.ErrConnLost
	}
	return nil
}

// notReady reports whether a server is starting or stopping, or does not listen yet.
func notReady(err error) bool {
	return driverr.HasNumber(err, 4221, 18401, 40143, 40540, 40613, 40197, 42108, 42109, 17142, 17187, 922, 927) || errors.Is(err, syscall.ECONNREFUSED)
}

// whichKey distinguishes a position that is taken from other keys. Positions are the primary
// keys of what a message, a timer or a run of a job lies in, and every key of a ready run.
// The server's text has the object's name and, of a constraint (2627) alone, no other of these
// tables has one.
func whichKey(n int, err error) error {
	switch table := tableIn(err.Error()); {
	case n == 2627 && slices.Contains([]string{"outbox_message", "timer", "job_run"}, table), table == "outbox_ready":
		return engine.ErrPosition
	}
	return engine.ErrUnique
}

// tableIn returns which of pawl's tables a text names first, as "schema.prefix_name" in any
// quotes: how a message quotes depends on its language.
func tableIn(text string) (first string) {
	at := len(text)
	for _, t := range engine.Tables() {
		for from := 0; ; {
			i := strings.Index(text[from:], t.Name)
			if i < 0 {
				break
			}
			i += from
			from = i + len(t.Name)
			if i < at && (from == len(text) || !engine.IsWord(text[from])) && strings.Contains(wordBefore(text, i), ".") {
				at, first = i, t.Name
			}
		}
	}
	return first
}

// wordBefore is what stands before an index without a space or quote between.
func wordBefore(text string, i int) string {
	from := i
	for from > 0 && (engine.IsWord(text[from-1]) || text[from-1] == '.') {
		from--
	}
	return text[from:i]
}

// wrap adds the operation's name and the error's class. cut is the class where the server did
// not answer: [engine.ErrConnLost], or
// [engine.ErrCommitUnknown] where the operation included its commit.
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

// reworded is an error whose own text would quote arguments.
type reworded struct {
	text string
	err  error
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.err }

// reword keeps arguments out of an error's text (D-5): the server quotes keys that are taken,
// and values that it cannot convert or that are too long.
func reword(err error) error {
	for _, n := range driverr.Numbers(err) {
		switch n {
		case 2627, 2601:
			return &reworded{fmt.Sprintf("a key of %s is taken (error %d)", tableIn(err.Error()), n), err}
		case 220, 241, 242, 245, 248, 517, 2628, 8114, 8115, 8134, 8152, 8169, 13609:
			return &reworded{fmt.Sprintf("a value is not acceptable (error %d)", n), err}
		}
	}
	return err
}

// broken reports whether the server did not answer: a dead connection, or a
// context that ended first.
func broken(err error) bool {
	var network net.Error
	if len(driverr.Numbers(err)) > 0 {
		return false
	}
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, errNoAnswer) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), "Invalid TDS stream") || strings.Contains(err.Error(), "SQL Server had internal error")
}
