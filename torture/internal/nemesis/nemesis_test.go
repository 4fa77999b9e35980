package nemesis

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/bravellian/pawl/torture/internal/history"
)

// D-322: a fault that could not be made does not count.
func TestOnlyWhatWasMadeIsCounted(t *testing.T) {
	t.Parallel()
	events, err := history.Create(t.TempDir(), "nemesis")
	if err != nil {
		t.Fatal(err)
	}
	w := &World{Events: events, Log: t.Logf}
	fault := func(name string, err error) Fault {
		return Fault{Name: name, Track: Servers, Do: func(context.Context, *World, Step) error { return err }}
	}
	faults := []Fault{fault("good", nil), fault("bad", errors.New("planned"))}
	Run(t.Context(), w, Plan{{Fault: "good"}, {Fault: "bad"}, {Fault: "good"}}, faults)
	if got, want := w.Made(), map[string]int{"good": 2}; !maps.Equal(got, want) {
		t.Errorf("made are %v, want %v", got, want)
	}
	if err := events.Close(); err != nil {
		t.Error(err)
	}
}
