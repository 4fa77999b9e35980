package engine_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
)

// D-442: what passes by itself is worth another try when a program starts, and nothing else is.
func TestTemporary(t *testing.T) {
	t.Parallel()
	failed := func(class, err error) error { return &engine.Error{Op: "schema", Class: class, Err: err} }
	for err, want := range map[error]bool{
		nil:                                     false,
		failed(engine.ErrNotReady, io.EOF):      true,
		failed(engine.ErrConnLost, io.EOF):      true,
		failed(engine.ErrTimeout, io.EOF):       true,
		failed(engine.ErrBusy, io.EOF):          true,
		failed(engine.ErrDeadlock, io.EOF):      true,
		failed(engine.ErrCommitUnknown, io.EOF): true,
		failed(engine.ErrNoPrimary, io.EOF):     true,
		failed(engine.ErrUnreachable, fmt.Errorf("greeting: %w", io.ErrUnexpectedEOF)):                 true,
		failed(engine.ErrUnreachable, &net.OpError{Op: "read", Err: syscall.ECONNRESET}):               true,
		failed(engine.ErrUnreachable, &net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}}): true,
		failed(engine.ErrUnreachable, &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}):  false,
		failed(engine.ErrUnreachable, errors.New("password authentication failed for user")):           false,
		failed(engine.ErrSchemaMissing, io.EOF):                                                        false,
		failed(engine.ErrSchemaOld, errors.New("version 1")):                                           false,
		failed(engine.ErrClosed, errors.New("postgres")):                                               false,
	} {
		if got := engine.Temporary(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
