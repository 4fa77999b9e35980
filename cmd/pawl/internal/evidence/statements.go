package evidence

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// statements runs every operation with nothing in its fields. A server compiles then all of a statement and of the
// routines that it calls; most change nothing. What refuses an argument has been run.
func statements(ctx context.Context, w *world) (string, error) {
	var failures []error
	n := 0
	for _, o := range op.All() {
		switch o.(type) {
		case op.GenerationCheck, op.GenerationRestored: // of the handle, and what would end all others
			continue
		}
		n++
		call := engine.Ask(reflect.Zero(reflect.TypeOf(o)).Interface().(engine.Operation))
		if _, rows := reflect.TypeOf(o).FieldByName("Rows"); rows {
			call.Each = func(engine.Row) error { return nil }
		}
		if err := w.db.Do(ctx, call); err != nil && !refused(err) {
			failures = append(failures, fmt.Errorf("%s: %s", engine.NameOf(o), strings.Join(strings.Fields(err.Error()), " ")))
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	if len(failures) > 0 {
		return "", fmt.Errorf("%d of %d: %w", len(failures), n, errors.Join(failures...))
	}
	return fmt.Sprintf("%d", n), nil
}

// refused reports whether a statement was run, and its empty arguments were not accepted: by a constraint, or as how
// many rows to read.
func refused(err error) bool {
	if errors.Is(err, engine.ErrReference) || errors.Is(err, engine.ErrInvalid) || errors.Is(err, engine.ErrUnique) {
		return true
	}
	if state := driverr.SQLState(err); strings.HasPrefix(state, "22") || strings.HasPrefix(state, "23") {
		return true
	}
	if code, ok := driverr.ResultCode(err); ok {
		return code == sqliteCheck || code == sqliteNotNull
	}
	return driverr.HasNumber(err, sqlserverRefuses()...)
}

// Of SQLite.
const (
	sqliteCheck   = 275
	sqliteNotNull = 1299
)

// sqlserverRefuses are no row where one is needed, a constraint, TOP, OFFSET and FETCH of no number, and pawl's own.
func sqlserverRefuses() []int { return []int{515, 547, 1014, 1060, 10742, 10743, 10744, 57110, 57111} }
