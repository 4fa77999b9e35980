package anydriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// Result codes of SQLite, with their extended forms where those matter.
const (
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeInterrupt  = 9
	codeIOErr      = 10
	codeCantOpen   = 14
	codeNotADB     = 26
	codeUnique     = 2067
	codePrimaryKey = 1555
	codeRowID      = 2579
)

// classify returns the class of a driver's error, or nil.
func classify(err error) error {
	if code, ok := resultCode(err); ok {
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
	case codeCantOpen, codeNotADB:
		return engine.ErrUnreachable
	}
	if strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such view") {
		return engine.ErrSchemaMissing
	}
	return nil
}

// resultCode returns SQLite's result code of a driver's error, the extended one if there is
// one: modernc and glebarez return it as Code() int, ncruces as ExtendedCode() and Code() of
// types of its own, and mattn in fields of these names.
func resultCode(err error) (code int, ok bool) {
	for err != nil {
		if own, is := err.(interface{ Code() int }); is {
			return own.Code(), true
		}
		if code, ok = numbered(reflect.ValueOf(err)); ok {
			return code, true
		}
		if list, is := err.(interface{ Unwrap() []error }); is {
			for _, err := range list.Unwrap() {
				if code, ok = resultCode(err); ok {
					return code, true
				}
			}
			return 0, false
		}
		err = errors.Unwrap(err)
	}
	return 0, false
}

// numbered reads the result code of an error of ncruces or mattn. Both have two codes, which
// no other driver's errors have. ncruces also returns one of the codes as an error, with a
// method that converts it to the other.
func numbered(err reflect.Value) (int, bool) {
	extended, primary := err.MethodByName("ExtendedCode"), err.MethodByName("Code")
	if extended.IsValid() && primary.IsValid() {
		return number(result(extended), result(primary))
	}
	if extended.IsValid() || primary.IsValid() {
		return integer(err)
	}
	if err = reflect.Indirect(err); err.Kind() != reflect.Struct {
		return 0, false
	}
	return number(err.FieldByName("ExtendedCode"), err.FieldByName("Code"))
}

// result calls a method without parameters that returns one value.
func result(method reflect.Value) reflect.Value {
	if t := method.Type(); t.NumIn() != 0 || t.NumOut() != 1 {
		return reflect.Value{}
	}
	return method.Call(nil)[0]
}

// number returns the extended code, or the primary one where the driver left that 0.
func number(extended, primary reflect.Value) (int, bool) {
	e, ok := integer(extended)
	p, too := integer(primary)
	if !ok || !too {
		return 0, false
	}
	if e == 0 {
		return p, true
	}
	return e, true
}

func integer(v reflect.Value) (int, bool) {
	switch {
	case v.CanInt():
		return int(v.Int()), true
	case v.CanUint():
		return int(v.Uint()), true
	}
	return 0, false
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
