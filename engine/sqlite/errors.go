package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/engine"
)

// coded is what drivers' errors have in common: SQLite's extended result code.
type coded interface{ Code() int }

// Result codes of SQLite, with their extended forms where those matter.
const (
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeInterrupt  = 9
	codeCantOpen   = 14
	codeNotADB     = 26
	codeUnique     = 2067
	codePrimaryKey = 1555
	codeRowID      = 2579
)

// classify names the class of a driver's error, or nil.
func classify(err error) error {
	var c coded
	if errors.As(err, &c) {
		return classOf(c.Code(), err)
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
		return engine.ErrUnique
	}
	switch code & 0xff {
	case codeBusy, codeLocked:
		return engine.ErrBusy
	case codeReadOnly:
		return engine.ErrReadOnly
	case codeInterrupt:
		return engine.ErrTimeout
	case codeCantOpen, codeNotADB:
		return engine.ErrUnreachable
	}
	if strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such view") {
		return engine.ErrSchemaMissing
	}
	return nil
}

// wrap tells which operation failed and of what class the failure is.
func wrap(op string, err error) error {
	var known *engine.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &engine.Error{Op: op, Class: classify(err), Err: err}
}

// openError tells which file could not be opened and why.
func openError(path string, err error) error {
	class := classify(err)
	if class == nil {
		class = engine.ErrUnreachable
	}
	return &engine.Error{Op: fmt.Sprintf("open sqlite %q", path), Class: class, Err: err}
}
