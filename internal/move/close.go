package move

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// pauseActor is who paused the queues of a store that is to be closed.
const pauseActor = "pawl move"

// errClaimed is what was claimed after the drain had seen nothing claimed.
var errClaimed = errors.New("something is claimed")

// close has what is being handled finished, as far as that does not take too long, and keeps
// everybody from writing to the old database. A claim that read the pauses before they were there
// may commit after the drain saw none: with the fence in place nobody can, so that is asked again.
func (m *mover) close(ctx context.Context) error {
	end := time.Now()
	if m.opts.Drain > 0 {
		if err := m.pause(ctx); err != nil {
			return err
		}
		end = time.Now().Add(m.opts.Drain)
	}
	pauses, err := m.ourPauses(ctx)
	if err != nil {
		return err
	}
	for {
		if err := m.drain(ctx, end); err != nil {
			return err
		}
		err = m.fence(ctx, m.a, engine.Fence{ID: m.id, Place: m.new.Place.Where}, func(ctx context.Context, tx engine.Tx) error {
			some, err := m.claimed(func(c *engine.Call) error { return m.old.DB.DoTx(ctx, tx, c) })
			switch {
			case err != nil:
				return err
			case some && time.Now().Before(end):
				return errClaimed
			}
			if err := m.endPauses(ctx, tx, pauses); err != nil {
				return err
			}
			return m.putTx(ctx, tx, m.old, from, op.Copying, op.Closed, m.new.Place)
		})
		if !errors.Is(err, errClaimed) {
			break
		}
	}
	if err == nil {
		m.oldPhase, m.closedAt = op.Closed, time.Now()
	}
	return err
}

// pause pauses all queues.
func (m *mover) pause(ctx context.Context) error {
	queues, err := m.pauseQueues(ctx)
	if err == nil {
		m.log.Info("paused a store to move it", "database", m.old.Place.Where, "count", len(queues))
	}
	return err
}

// drain waits until nothing is claimed, or the end.
func (m *mover) drain(ctx context.Context, end time.Time) error {
	for time.Now().Before(end) {
		some, err := m.claimed(func(c *engine.Call) error { return m.old.DB.Read(ctx, c) })
		if err != nil || !some {
			return err
		}
		if err := engine.Sleep(ctx, drainPoll); err != nil {
			return err
		}
	}
	return nil
}

// claimed reports whether messages of the old database are claimed, those that cannot be read
// included. ask runs the call.
func (m *mover) claimed(ask func(c *engine.Call) error) (some bool, err error) {
	list := op.OutboxListClaimed{OutboxFilter: op.OutboxFilter{Before: math.MaxInt64, Most: 1, Bare: true}}
	c := engine.Each(list, func(*op.OutboxItem, error) error {
		some = true
		return nil
	})
	c.Reset = func() { some = false }
	err = ask(c)
	return some, err
}

// pauseQueues pauses the queues that are not paused.
func (m *mover) pauseQueues(ctx context.Context) (paused []string, err error) {
	lanes := table(m.tables, "outbox_lane")
	queue := column(lanes, "queue")
	var all []string
	for above := []any(nil); ; {
		rows, err := m.a.TableRows(ctx, lanes, above, batchRows)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			all = append(all, row[queue].(string))
		}
		if len(rows) < batchRows {
			break
		}
		above = lanes.KeyOf(rows[len(rows)-1])
	}
	slices.Sort(all)
	reason := "it is being moved to " + m.new.Place.Where
	for _, name := range slices.Compact(all) {
		if name == "" {
			continue
		}
		n, err := engine.Exec(ctx, m.old.DB, nil, op.PausePut{Kind: "queue", Name: name, Reason: &reason, Note: op.Note{Actor: pauseActor}})
		if err != nil {
			return nil, err
		}
		if n > 0 {
			paused = append(paused, name)
		}
	}
	return paused, nil
}

// ourPauses returns the keys of the pauses of pauseQueues.
func (m *mover) ourPauses(ctx context.Context) (keys [][]any, err error) {
	pauses := table(m.tables, "outbox_pause")
	actor := column(pauses, "actor")
	rows, err := m.a.TableRows(ctx, pauses, nil, mostPauses)
	for _, row := range rows {
		if row[actor] == pauseActor {
			keys = append(keys, pauses.KeyOf(row))
		}
	}
	return keys, err
}

// mostPauses is more than there are.
const mostPauses = 1 << 20

// endPauses deletes pauses in the transaction of a fence, which locks the table for all others.
func (m *mover) endPauses(ctx context.Context, tx engine.Tx, keys [][]any) error {
	pauses := table(m.tables, "outbox_pause")
	for _, key := range keys {
		if err := m.a.DeleteRow(ctx, tx, pauses, key); err != nil {
			return err
		}
	}
	return nil
}

// renewed is the name under which the new generation is recorded, among the tables.
const renewed = "generation"

// renew begins a new generation in the new database, whose positions and fencing tokens are
// above all that the old one gave to anybody, and compares the clocks.
func (m *mover) renew(ctx context.Context) error {
	reach, _, err := engine.Get(ctx, m.old.DB, op.MoveReach{})
	if err != nil {
		return err
	}
	if m.skew, err = m.clockSkew(ctx); err != nil {
		return err
	}
	at, err := m.progress(ctx, renewed)
	if err != nil || at.IsOver { // it ended all leases: never after they were copied
		return err
	}
	return m.inNew(ctx, func(ctx context.Context, tx engine.Tx) error {
		if err := m.alone(ctx, tx, m.new, engine.Ask(op.MoveCopied{Name: renewed, Last: renewed, IsOver: true})); err != nil {
			return err
		}
		if err := m.new.DB.DoTx(ctx, tx, engine.Ask(op.GenerationRestored{})); err != nil {
			return err
		}
		return m.new.DB.DoTx(ctx, tx, engine.Ask(op.MoveAhead{Low: reach.Low, High: reach.High}))
	})
}

// clockSkew returns by how much the new database's clock is ahead of the old one's.
func (m *mover) clockSkew(ctx context.Context) (time.Duration, error) {
	ahead := func(db engine.DB) (time.Duration, error) { // of this process's clock
		begin := time.Now()
		c, _, err := engine.Get(ctx, db, op.ClockNow{})
		return c.Now.Sub(begin.Add(time.Since(begin) / 2)), err
	}
	a, err := ahead(m.old.DB)
	if err != nil {
		return 0, err
	}
	b, err := ahead(m.new.DB)
	return b - a, err
}

func table(all []engine.Table, name string) *engine.Table {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	panic("move: no table " + name)
}

func column(t *engine.Table, name string) int {
	return slices.IndexFunc(t.Columns, func(c engine.Column) bool { return c.Name == name })
}
