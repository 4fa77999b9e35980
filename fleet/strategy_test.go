package fleet_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/outbox"
)

// OBX-067, OBX-068, OBX-069: both orders are those of the keys, from wherever the last turn was.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, s := range []fleet.Strategy{fleet.RoundRobin(), fleet.DrainFirst()} {
		for _, c := range []struct{ last, want string }{
			{"", "b"}, {"a", "b"}, {"b", "d"}, {"c", "d"}, {"d", "f"}, {"f", "b"}, {"z", "b"},
		} {
			if got := s.Next([]string{"b", "d", "f"}, c.last); got != c.want {
				t.Errorf("after %q: %q, want %q", c.last, got, c.want)
			}
		}
		if got := s.Next([]string{"x"}, "x"); got != "x" {
			t.Errorf("the only one: %q", got)
		}
	}
	if fleet.RoundRobin().Continue("a") || !fleet.DrainFirst().Continue("a") {
		t.Error("round robin stays, or drain-first does not")
	}
}

// ordered is a fleet with one place whose first turn, store "a0"'s, lasts until the
// stores of keys wait for theirs.
func ordered(t *testing.T, l *list, s fleet.Strategy, handle outbox.Handler, keys ...string) *fleet.Fleet {
	t.Helper()
	o := quick()
	o.Active, o.Pawl.Concurrency, o.Pawl.BatchSize, o.Strategy, o.Pawl.StopWhenEmpty = 1, 3, 3, s, true
	f := open(t, l, o)
	gate := make(chan struct{})
	f.Handle("gate", func(context.Context, *outbox.Message) error {
		<-gate
		return nil
	})
	f.Handle("t", handle)
	_, err := box(t, f, "a0").Enqueue(t.Context(), outbox.Message{Topic: "gate"})
	must(t, err)
	open := sync.WaitGroup{}
	open.Go(func() {
		untilState(t, f, fleetstate.Active, "a0")
		for _, key := range keys {
			enqueue(t, f, key, 6)
		}
		untilState(t, f, fleetstate.Waiting, keys...)
		close(gate)
	})
	t.Cleanup(open.Wait)
	return f
}

// turnsOf shortens an order of handled messages to runs.
func turnsOf(order []string) (keys []string, lengths []int) {
	for i, key := range order {
		if i > 0 && key == order[i-1] {
			lengths[len(lengths)-1]++
			continue
		}
		keys, lengths = append(keys, key), append(lengths, 1)
	}
	return keys, lengths
}

// OBX-068, D-93: one batch of each store in turn.
func TestRoundRobin(t *testing.T) {
	t.Parallel()
	r := newRecord()
	f := ordered(t, listOf(files(t, "a0", "d", "b", "c")...), fleet.RoundRobin(), r.Handle, "d", "b", "c")
	drain(t, f)
	keys, lengths := turnsOf(r.order)
	if !slices.Equal(keys, []string{"b", "c", "d", "b", "c", "d"}) || slices.Max(lengths) != 3 || slices.Min(lengths) != 3 {
		t.Errorf("turns: %v of %v messages", keys, lengths)
	}
}

// OBX-069, D-93: each store until it is empty.
func TestDrainFirst(t *testing.T) {
	t.Parallel()
	r := newRecord()
	f := ordered(t, listOf(files(t, "a0", "d", "b", "c")...), fleet.DrainFirst(), r.Handle, "d", "b", "c")
	drain(t, f)
	keys, lengths := turnsOf(r.order)
	if !slices.Equal(keys, []string{"b", "c", "d"}) || slices.Min(lengths) != 6 {
		t.Errorf("turns: %v of %v messages", keys, lengths)
	}
}

// changing changes the list during the first message of store "c".
func changing(t *testing.T, l *list, f **fleet.Fleet, r *record, come fleet.Database, stay ...fleet.Database) outbox.Handler {
	var once sync.Once
	return func(ctx context.Context, m *outbox.Message) error {
		if fleet.StoreOf(ctx).Key != "c" {
			return r.Handle(ctx, m)
		}
		once.Do(func() {
			l.set(append(stay, come)...)
			for range 2 { // once missing is not gone
				if err := (*f).Refresh(ctx); err != nil {
					t.Error(err)
				}
			}
			enqueue(t, *f, come.Key, 6)
			untilState(t, *f, fleetstate.Waiting, come.Key)
		})
		return r.Handle(ctx, m)
	}
}

// OBX-068, OBX-069, OBX-077, OBX-078: stores that come and go do not disturb the order of the others.
func TestOrderWhileStoresComeAndGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fleet.Strategy
		want []string
	}{
		"round robin": {fleet.RoundRobin(), []string{"b", "c", "b", "bb", "c", "bb"}},
		"drain first": {fleet.DrainFirst(), []string{"b", "c", "bb"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbs := files(t, "a0", "b", "c", "d", "bb")
			l, r := listOf(dbs[:4]...), newRecord()
			var f *fleet.Fleet
			f = ordered(t, l, c.Strategy, changing(t, l, &f, r, dbs[4], dbs[0], dbs[1], dbs[2]), "b", "c", "d")
			drain(t, f)
			if keys, lengths := turnsOf(r.order); !slices.Equal(keys, c.want) {
				t.Errorf("turns: %v of %v messages, want %v", keys, lengths, c.want)
			}
			if r.of("bb") != 6 || r.of("d") != 0 {
				t.Errorf("handled: %v", r.counts())
			}
		})
	}
}

// nonsense is a strategy that names stores there are not.
type nonsense struct{ answer string }

func (n nonsense) Next([]string, string) string { return n.answer }
func (nonsense) Continue(string) bool           { return false }

// OBX-067: a strategy of the program's is asked; whatever it says, work is done.
func TestStrategyThatMakesThingsUp(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", "no such store"} {
		r := newRecord()
		f := ordered(t, listOf(files(t, "a0", "b", "c")...), nonsense{answer}, r.Handle, "b", "c")
		drain(t, f)
		if r.of("b") != 6 || r.of("c") != 6 {
			t.Errorf("handled: %v", r.counts())
		}
	}
}
