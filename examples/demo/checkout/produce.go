package checkout

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/examples/demo/scene"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/outbox"
)

// Scene begins checkouts, and approves them.
type Scene struct {
	DB        *scene.Database
	Pawl      *pawl.Pawl
	Checkouts int

	begun, answered atomic.Int64
}

// Title describes the scene.
func (s *Scene) Title() string {
	return fmt.Sprintf("beginning %d checkouts, durable flows: charge, wait for approval, book", s.Checkouts)
}

// Messages is how many there will be at most: each flow, and what follows it.
func (s *Scene) Messages() int64 { return int64(2 * s.Checkouts) }

// Progress says how far the checkouts are. A flow that waits is a message that is not due.
func (s *Scene) Progress(n outbox.Counts) string {
	return fmt.Sprintf("%d checkouts, %d answered: %d messages handled, %d in hand, %d due, %d waiting for approval or retries, %d failed",
		s.begun.Load(), s.answered.Load(), n.Done, n.InProgress, n.Ready, n.Scheduled+n.Retrying, n.Failed)
}

// Produced describes what Produce did.
func (s *Scene) Produced() string {
	return fmt.Sprintf("checkouts begun: %d, approved or declined: %d", s.begun.Load(), s.answered.Load())
}

// Produce begins every checkout with a row of its own, in one transaction. Every third one is answered in it, before the
// flow asks; the others later.
func (s *Scene) Produce(ctx context.Context) error {
	fl := flowOf(&shop{}, nil)
	later := map[cart]outbox.MessageID{}
	for i, c := range carts(s.Checkouts) {
		err := s.DB.Transact(ctx, func(tx *sql.Tx) error {
			id, err := fl.StartTx(ctx, s.Pawl, tx, c, flow.Options{Key: c.ID, CorrelationID: c.ID})
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, s.DB.Text(`INSERT INTO pawl.checkouts (id, flow_id, declined) VALUES (?1, ?2, ?3)`), c.ID, id.String(), declined(c)); err != nil {
				return err
			}
			if i%3 != 0 {
				later[c] = id
				return nil
			}
			return approved.SendTx(ctx, s.Pawl, tx, id, approval{!c.declined()})
		})
		if err != nil {
			return fmt.Errorf("begin checkout %s: %w", c.ID, err)
		}
		s.begun.Add(1)
		if i%3 == 0 {
			s.answered.Add(1)
		}
	}
	for _, c := range carts(s.Checkouts) {
		id, waits := later[c]
		if !waits {
			continue
		}
		if err := scene.Network(ctx); err != nil {
			return err
		}
		if err := approved.Send(ctx, s.Pawl, id, approval{!c.declined()}); err != nil {
			return fmt.Errorf("approve checkout %s: %w", c.ID, err)
		}
		s.answered.Add(1)
	}
	return nil
}

func declined(c cart) int64 {
	if c.declined() {
		return 1
	}
	return 0
}
