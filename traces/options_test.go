package traces_test

import (
	"errors"
	"math"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/traces"
)

// D-8: a part of more than everything is refused; a negative one is none.
func TestOptionsAreValidated(t *testing.T) {
	p, err := pawl.New(dbtest.OpenSQLite(t), quiet())
	must(t, err)
	for _, part := range []float64{1.5, math.NaN()} {
		var invalid *engine.InvalidError
		if err := traces.Instrument(p, traces.Options{Untraced: part}); !errors.As(err, &invalid) || invalid.Field() != "Untraced" {
			t.Errorf("%v: %v", part, err)
		}
		if err := traces.InstrumentFleet(nil, traces.Options{Untraced: part}); !errors.As(err, &invalid) || invalid.Field() != "Untraced" {
			t.Errorf("%v: %v", part, err)
		}
	}
	must(t, traces.Instrument(p, traces.Options{Untraced: -1}))
}
