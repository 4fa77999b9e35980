package anydriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

// Result codes of SQLite, with their extended forms where those matter.
const (
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeInterrupt  = 9
	codeIOErr      = 10
	codeFull       = 13
	codeCantOpen   = 14
	codeNotADB     = 26
	codeUnique     = 2067
	codePrimaryKey = 1555
	codeRowID      = 2579
)

// classify returns the class of a driver's error, or nil.
func classify(err error) error {
	if code, ok := driverr.ResultCode(err); ok {
		return classOf(code, err)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, driver.ErrBadConn):
		return engine.ErrConnLost
	case errors.Is(err, context.DeadlineExceeded):
		return engine.ErrTimeout
	}
	return nil
}

func classOf(code int, err error) error {
	switch code {
	case codeUnique, codePrimaryKey, codeRowID:
		return keyClass(err)
	}
	switch code & 0xff {
	case codeBusy, codeLocked:
		return engine.ErrBusy
	case codeReadOnly:
		return engine.ErrReadOnly
	case codeInterrupt:
		return engine.ErrTimeout
	case codeFull:
		return engine.ErrNoRoom
	case codeCantOpen, codeNotADB:
		return engine.ErrUnreachable
	}
	if moved := engine.MovedClass(err.Error()); moved != nil {
		return moved
	}
	if strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such view") {
		return engine.ErrSchemaMissing
	}
	return nil
}

// keyClass distinguishes positions that are taken from other keys. Positions are the primary
// keys of messages, runs, timers and runs of jobs.
func keyClass(err error) error {
	for _, key := range []string{"outbox_message.id", "outbox_ready.lo", "timer.id", "job_run.id"} {
		if text := err.Error(); strings.Contains(text, key+" ") || strings.HasSuffix(text, key) {
			return engine.ErrPosition
		}
	}
	return engine.ErrUnique
}

// wrap adds the operation and the class to an error.
func wrap(op string, err error) error {
	var known *engine.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &engine.Error{Op: op, Class: classify(err), Err: err}
}

// openError adds the file and the class to an error of opening it.
func openError(path string, err error) error {
	class := classify(err)
	if class == nil {
		class = engine.ErrUnreachable
	}
	return &engine.Error{Op: fmt.Sprintf("open sqlite %q", path), Class: class, Err: err}
}
