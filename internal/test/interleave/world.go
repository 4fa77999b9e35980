package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// world is a scenario's database, and what has happened in it.
type world struct {
	db       engine.DB
	table    func(name string) string
	read     func(ctx context.Context, query string) ([]row, error)
	scenario *Scenario
	last     *snapshot // the last committed state
	events   []Event
	tokens   sync.Map // of the lease
	wrongs   []string
	outcome  string // state and events at the end of the last schedule
}

func newWorld(db engine.DB, table func(string) string) *world { return &world{db: db, table: table} }

// Queue is where the messages of scenarios are.
const Queue = "q"

// register makes the queue's lanes known.
func (w *world) register(ctx context.Context) error {
	for _, kind := range []engine.LaneKind{engine.Claimable, engine.Ordered, engine.Waiting} {
		if err := w.db.Do(ctx, engine.Ask(op.OutboxLane{ID: engine.LaneID(Queue, 0, kind), Queue: Queue, Kind: int(kind)})); err != nil {
			return fmt.Errorf("register: %w", err)
		}
	}
	return nil
}

// wrong records what must not be.
func (w *world) wrong(format string, args ...any) {
	w.wrongs = append(w.wrongs, fmt.Sprintf(format, args...))
}

// start empties the tables and runs the setup.
func (w *world) start(ctx context.Context) error {
	w.events, w.wrongs = nil, nil
	w.tokens.Clear()
	err := w.db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
		for _, t := range tables {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+w.table(t)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("empty the tables: %w", err)
	}
	for _, a := range w.scenario.Setup {
		if err := w.do(ctx, a); err != nil {
			return err
		}
	}
	w.last, err = w.snapshot(ctx)
	return err
}

// do runs an action in a transaction of its own.
func (w *world) do(ctx context.Context, a Action) error {
	err := w.db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
		return a.Do(ctx, Env{DB: w.db, Session: testItself, Table: w.table, events: &w.events, tokens: &w.tokens}.in(tx))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	return nil
}

// testItself stands for a session in events of the setup, and of what is done at the end.
const testItself = 'T' - 'A'

// committed checks the state that a session's commit left.
func (w *world) committed(ctx context.Context, events []Event) error {
	now, err := w.snapshot(ctx)
	if err != nil {
		return err
	}
	w.events = append(w.events, events...)
	w.checkState(now)
	w.checkChange(w.last, now, events)
	w.last = now
	return nil
}

// finish checks the outcome, has a worker handle what is left, and checks that too.
func (w *world) finish(ctx context.Context) error {
	if err := w.committed(ctx, nil); err != nil {
		return err
	}
	lines := slices.Clone(w.last.lines)
	for i := range w.scenario.Sessions {
		for _, v := range w.events {
			if v.Session == i {
				lines = append(lines, v.String())
			}
		}
	}
	w.outcome = strings.Join(lines, "\n")
	w.checkEvents(w.last)
	if len(w.wrongs) == 0 {
		if err := w.drain(ctx); err != nil {
			return err
		}
		w.checkState(w.last)
		w.checkEvents(w.last)
		w.checkDrained(w.last)
	}
	if len(w.wrongs) == 0 {
		return nil
	}
	var all []error
	for _, text := range append(w.wrongs, "after:") {
		all = append(all, errors.New(text))
	}
	for _, v := range w.events {
		all = append(all, errors.New("  "+v.String()))
	}
	for _, l := range w.last.lines {
		all = append(all, errors.New("  "+l))
	}
	return errors.Join(all...)
}

// drain is a worker that handles what there is: leases that are not ended by then expire.
func (w *world) drain(ctx context.Context) error {
	for range 20 {
		var got []int64
		for _, a := range []Action{ExpireClaims(), Reap(), ReapTimers(), Dispatch(), Claim("drain", 100, &got)} {
			if err := w.do(ctx, a); err != nil {
				return err
			}
		}
		for _, id := range got {
			a := Ack("drain", id, 1)
			if id >= FirstWait && id < FirstTimer {
				a = HandleWait("drain", w.last.waits[id], id)
			}
			if err := w.do(ctx, a); err != nil {
				return err
			}
		}
		if len(got) == 0 {
			break
		}
	}
	var err error
	w.last, err = w.snapshot(ctx)
	return err
}
