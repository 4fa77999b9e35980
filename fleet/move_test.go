package fleet_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/move"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-256: a fleet that lists the old address goes on in the new database: its workers by
// themselves, its producers once they ask for the store again.
func TestFleetFollowsAMove(t *testing.T) {
	t.Parallel()
	pg, _ := servers(t, 1)
	old, new := file(t, "a"), pg[0]
	r := newRecord()
	f := open(t, fleet.Static(old), quick()) // works on it
	f.Handle("t", r.Handle)
	other := open(t, fleet.Static(old), quick()) // only enqueues
	start(t, f)
	enqueue(t, other, "a", 10)
	r.until(t, "a", 10)
	held := box(t, other, "a")
	mover := open(t, fleet.Static(old), quick())
	report, err := mover.Operator(access.Key{}).Move(t.Context(), "a", new, move.Options{})
	must(t, err)
	if report.Rows["outbox_message"] != 10 {
		t.Errorf("report %+v", report)
	}
	_, err = held.Enqueue(t.Context(), outbox.Message{Topic: "t", Payload: []byte("late")})
	var moved pawl.MovedError
	if !errors.Is(err, pawl.ErrMoved) || !errors.As(err, &moved) || moved.Place() != new.Where(access.Key{}) {
		t.Errorf("a late writer: %v", err)
	}
	dbtest.Until(t, "the workers followed", func() bool { return state(f, "a").Where == new.Where(access.Key{}) })
	enqueueIn(t, box(t, other, "a"), "after", 10)
	r.until(t, "a", 20)
	r.once(t)
	for _, of := range []*fleet.Fleet{f, other} {
		must(t, of.Refresh(t.Context())) // the list still has the old address
		s, err := of.Operator(access.Key{}).Store(t.Context(), "a")
		must(t, err)
		if at := s.Database(); at.URL != new.URL {
			t.Errorf("after the list was read again the store is at %s", at.Where(access.Key{}))
		}
	}
	_, err = held.Enqueue(t.Context(), outbox.Message{Topic: "t", Payload: []byte("later")})
	if !errors.Is(err, pawl.ErrMoved) {
		t.Errorf("a writer that kept the store: %v", err)
	}
	if _, err := mover.Operator(access.Key{}).Move(t.Context(), "a", new, move.Options{}); err != nil {
		t.Errorf("repeated: %v", err)
	}
}

// D-719: whoever asks for a store that moved with a context that has ended gets that error, not the
// old store, whose writes fail however often they are repeated. The next caller gets the new one.
func TestMovedStoreAndAnEndedContext(t *testing.T) {
	t.Parallel()
	pg, _ := servers(t, 2)
	pg[1].Key = "a"
	for name, c := range map[string]struct{ old, new fleet.Database }{"from a file": {file(t, "a"), pg[0]}, "from a server": {pg[1], blank(t, "a")}} {
		t.Run(name, func(t *testing.T) {
			f := open(t, fleet.Static(c.old), quick())
			held := box(t, f, "a")
			_, err := open(t, fleet.Static(c.old), quick()).Operator(access.Key{}).Move(t.Context(), "a", c.new, move.Options{})
			must(t, err)
			if _, err = held.Enqueue(t.Context(), outbox.Message{Topic: "t"}); !errors.Is(err, pawl.ErrMoved) {
				t.Fatalf("a late writer: %v", err)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			if _, err := f.Pawl(ended, "a"); !errors.Is(err, context.Canceled) {
				t.Errorf("asked with a context that has ended: %v", err)
			}
			if _, err := box(t, f, "a").Enqueue(t.Context(), outbox.Message{Topic: "t"}); err != nil {
				t.Errorf("asked once more: %v", err)
			}
		})
	}
}

// D-260: errors of a move say which store and what is wrong.
func TestMoveRefused(t *testing.T) {
	t.Parallel()
	old, used := file(t, "a"), file(t, "b")
	f := open(t, fleet.Static(old, used), quick())
	enqueue(t, f, "b", 1)
	for name, c := range map[string]struct {
		key  string
		to   fleet.Database
		want error
	}{
		"unknown store": {"x", blank(t, "x"), fleet.ErrUnknownStore},
		"no engine":     {"a", fleet.Database{URL: "mysql://x"}, pawl.ErrInvalid},
		"itself":        {"a", old, pawl.ErrInvalid},
		"a used one":    {"a", used, move.ErrNotEmpty},
	} {
		if _, err := f.Operator(access.Key{}).Move(t.Context(), c.key, c.to, move.Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	to := blank(t, "a")
	refused := errors.New("not now")
	_, err := f.Operator(access.Key{}).Move(t.Context(), "a", to, move.Options{Switch: func(context.Context) error { return refused }})
	if !errors.Is(err, refused) {
		t.Errorf("the switch failed: %v", err)
	}
	if _, err := f.Operator(access.Key{}).Move(t.Context(), "a", blank(t, "a"), move.Options{}); !errors.Is(err, move.ErrOther) {
		t.Errorf("to elsewhere in the middle of a move: %v", err)
	}
	must(t, f.Operator(access.Key{}).GiveUpMove(t.Context(), "a", to))
	enqueue(t, f, "a", 1)
}
