package fleet_test

import (
	"errors"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
)

// field insists on an error that names what was refused.
func field(t *testing.T, want string, err error) {
	t.Helper()
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) || invalid.Field() != want {
		t.Errorf("want an error that names %s, got %v", want, err)
	}
}

// D-8, D-90: options that cannot be, and a fixed list with a key that is there twice, are refused when a fleet is made.
func TestWhatAFleetRefuses(t *testing.T) {
	t.Parallel()
	list := fleet.Static(blank(t, "a"))
	for want, o := range map[string]fleet.Options{
		"Refresh": {Refresh: -1}, "Active": {Active: -1}, "Handlers": {Handlers: -1}, "Pawl.Concurrency": {Pawl: pawl.Options{Concurrency: -1}}, "Connections": {Connections: 3},
		"ConnectionsPerStore": {ConnectionsPerStore: 2}, "PollMin": {PollMin: -1}, "PollMax": {PollMax: -1}, "PollFiles": {PollFiles: -1}, "Cool": {Cool: -1},
		"KeepReady": {KeepReady: -1}, "Pawl.Grace": {Pawl: pawl.Options{Grace: -1}},
	} {
		o.Engines = engines()
		_, err := fleet.New(list, o)
		field(t, want, err)
	}
	same := blank(t, "a")
	for _, twice := range [][]fleet.Database{{same, blank(t, "b"), same}, {blank(t, "a"), blank(t, "a")}} {
		_, err := fleet.New(fleet.Static(twice...), quick())
		field(t, "store key", err)
	}
	f := open(t, list, quick())
	_, err := f.Migrations(t.Context(), fleetstate.Migrate{Parallel: -1})
	field(t, "Parallel", err)
}
