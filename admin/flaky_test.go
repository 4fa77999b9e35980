package admin_test

import (
	"context"
	"errors"

	"github.com/bravellian/pawl/internal/engine"
)

// flaky is a database some of whose operations fail.
type flaky struct {
	engine.DB
	fail func(op string) bool
	did  func(op string) // told of what has run; nil: nobody
}

var errFlaky = errors.New("the test wants it to fail")

// Do fails before anything is done, if one of the calls is to fail.
func (d *flaky) Do(ctx context.Context, calls ...*engine.Call) error {
	for _, c := range calls {
		if d.fail(c.Name()) {
			return &engine.Error{Op: c.Name(), Class: engine.ErrUnreachable, Err: errFlaky}
		}
	}
	err := d.DB.Do(ctx, calls...)
	if err == nil && d.did != nil {
		for _, c := range calls {
			d.did(c.Name())
		}
	}
	return err
}

// Read fails likewise.
func (d *flaky) Read(ctx context.Context, call *engine.Call) error {
	if d.fail(call.Name()) {
		return &engine.Error{Op: call.Name(), Class: engine.ErrUnreachable, Err: errFlaky}
	}
	return d.DB.Read(ctx, call)
}
