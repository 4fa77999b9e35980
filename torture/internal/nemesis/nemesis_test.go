package nemesis

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"time"

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

// D-320: faults of servers wait for each other, also when one takes longer than planned.
func TestFaultsOfServersFollowEachOther(t *testing.T) {
	t.Parallel()
	events, err := history.Create(t.TempDir(), "nemesis")
	if err != nil {
		t.Fatal(err)
	}
	var at, most atomic.Int32
	slow := Fault{Name: "slow", Track: Servers, Do: func(context.Context, *World, Step) error {
		most.Store(max(most.Load(), at.Add(1)))
		time.Sleep(50 * time.Millisecond)
		at.Add(-1)
		return nil
	}}
	w := &World{Events: events, Log: t.Logf}
	Run(t.Context(), w, Plan{{Fault: "slow"}, {Fault: "slow"}, {Fault: "slow"}}, []Fault{slow})
	if n := most.Load(); n != 1 || w.Made()["slow"] != 3 {
		t.Errorf("%d at once, made are %v", n, w.Made())
	}
	if err := events.Close(); err != nil {
		t.Error(err)
	}
}
