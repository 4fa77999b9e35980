package move

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// GiveUp ends a move that is not over: the old store is worked on again, and what was copied is
// deleted.
func GiveUp(ctx context.Context, old, new Side, opts Options) error {
	m, err := prepare(old, new, opts)
	if err != nil {
		return err
	}
	a, b, err := m.states(ctx)
	if err != nil {
		return err
	}
	if a.Role == nil || *a.Role != from {
		return engine.Invalid("store", "it is not being moved")
	}
	m.id = *a.ID
	ours := b.ID != nil && *b.ID == m.id
	if *a.Phase == op.Moved || ours && *b.Phase == op.Arrived {
		return fmt.Errorf("%w: to %s", ErrOver, *a.Place)
	}
	if ours {
		if err := m.empty(ctx); err != nil {
			return err
		}
	}
	pauses, err := m.ourPauses(ctx)
	if err != nil {
		return err
	}
	return m.unfence(ctx, m.a, func(ctx context.Context, tx engine.Tx) error {
		if err := m.endPauses(ctx, tx, pauses); err != nil {
			return err
		}
		if err := m.old.DB.DoTx(ctx, tx, engine.Ask(op.MoveForget{})); err != nil {
			return err
		}
		return m.old.DB.DoTx(ctx, tx, m.note(ctx, from, "given up", m.new.Place).Call(audit.Move, 1))
	})
}

// empty deletes what was copied.
func (m *mover) empty(ctx context.Context) error {
	err := m.inNew(ctx, func(ctx context.Context, tx engine.Tx) error {
		for i := len(m.tables) - 1; i >= 0; i-- {
			if m.tables[i].Shared {
				continue
			}
			if err := m.b.ClearTable(ctx, tx, &m.tables[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.unfence(ctx, m.b, func(ctx context.Context, tx engine.Tx) error {
		if err := m.new.DB.DoTx(ctx, tx, engine.Ask(op.MoveClear{})); err != nil {
			return err
		}
		return m.new.DB.DoTx(ctx, tx, engine.Ask(op.MoveForget{}))
	})
}
