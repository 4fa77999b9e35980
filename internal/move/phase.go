package move

import (
	"context"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// states returns how far both databases say that the move is.
func (m *mover) states(ctx context.Context) (a, b op.Move, err error) {
	if a, _, err = engine.Get(ctx, m.old.DB, op.MoveRead{}); err != nil {
		return a, b, fmt.Errorf("the old database: %w", err)
	}
	if b, _, err = engine.Get(ctx, m.new.DB, op.MoveRead{}); err != nil {
		return a, b, fmt.Errorf("the new database: %w", err)
	}
	return a, b, nil
}

// put records a phase that follows another, in the audit trail as well.
func (m *mover) put(ctx context.Context, s Side, role, was, phase string, other Place) error {
	put := m.state(role, was, phase, other)
	if err := s.DB.Do(ctx, put); err != nil {
		return err
	}
	if err := m.another(put); err != nil {
		return err
	}
	return s.DB.Do(ctx, m.note(ctx, role, phase, other).Call(audit.Move, 1))
}

// none is no phase.
const none = "none"

func phaseOf(s *op.Move) string {
	if s.Phase == nil {
		return none
	}
	return *s.Phase
}

func (m *mover) state(role, was, phase string, other Place) *engine.Call {
	return engine.Ask(op.MovePut{ID: m.id, Was: was, Role: role, Phase: phase, Place: other.Where, SchemaName: other.Schema, Prefix: other.Prefix})
}

func (m *mover) note(ctx context.Context, role, phase string, other Place) audit.Note {
	return audit.New(ctx, role+" "+other.Where+": "+phase)
}

// putTx is put within a transaction, for a phase that follows another.
func (m *mover) putTx(ctx context.Context, tx engine.Tx, s Side, role, was, phase string, other Place) error {
	if err := m.alone(ctx, tx, s, m.state(role, was, phase, other)); err != nil {
		return err
	}
	return s.DB.DoTx(ctx, tx, m.note(ctx, role, phase, other).Call(audit.Move, 1))
}

// alone runs a call that changes something unless another process goes on with this move, or gave
// it up.
func (m *mover) alone(ctx context.Context, tx engine.Tx, s Side, call *engine.Call) error {
	if err := s.DB.DoTx(ctx, tx, call); err != nil {
		return err
	}
	return m.another(call)
}

// another returns an error for a call that changed nothing.
func (m *mover) another(call *engine.Call) error {
	if call.N == 0 {
		return fmt.Errorf("%w: another process goes on with it, or ended it", ErrOther)
	}
	return nil
}

// inNew runs fn in a transaction in the new database. Those of several processes follow each other.
func (m *mover) inNew(ctx context.Context, fn func(ctx context.Context, tx engine.Tx) error) error {
	return m.b.InMove(ctx, m.id, func(ctx context.Context, tx engine.Tx) error {
		if err := m.alone(ctx, tx, m.new, engine.Ask(op.MoveTouch{ID: m.id, Phase: op.Filling})); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

// fence puts a fence.
func (m *mover) fence(ctx context.Context, db engine.Movable, f engine.Fence, fn func(ctx context.Context, tx engine.Tx) error) error {
	return m.locked(ctx, func() error { return db.PutFence(ctx, f, m.tables, fn) })
}

// unfence removes a fence.
func (m *mover) unfence(ctx context.Context, db engine.Movable, fn func(ctx context.Context, tx engine.Tx) error) error {
	return m.locked(ctx, func() error { return db.RemoveFence(ctx, engine.Fence{ID: m.id}, m.tables, fn) })
}

// locked repeats what locks tables as long as programs keep transactions open.
func (m *mover) locked(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, engine.ErrBusy) && !errors.Is(err, engine.ErrDeadlock) {
			return err
		}
		m.log.Info("a transaction of a program is open, will try again", "error", engine.Line(err.Error()))
		if err := engine.Sleep(ctx, engine.Jitter(fencePause, 0.5)); err != nil {
			return err
		}
	}
}
