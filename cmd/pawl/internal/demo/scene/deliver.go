package scene

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// How a delivery can end, as the scenes' tables of deliveries have it.
const (
	Sent      = "sent"      // it took effect
	Duplicate = "duplicate" // it had taken effect before
	Refused   = "refused"   // the other side is busy: again later
	Rejected  = "rejected"  // the other side will never take it
)

// Delivery is one call of a handler.
type Delivery struct {
	Subject string // whom or what the message is about
	Fate    string // what the other side says: Sent, Refused or Rejected
	No      error  // why it is rejected
	// Effect inserts a row whose key is the message's id, unless it is there:
	// that is how a message takes effect once.
	Effect string
	Args   []any
	// Note inserts what became of the call: ?1 message, ?2 subject, ?3 topic,
	// ?4 attempt, ?5 outcome, ?6 worker, ?7 microseconds since 1970.
	Note string
}

// Deliver writes an effect and the note of it in one transaction. The pauses
// are the network's: before the effect, and between it and the ack, which is
// where a killed worker leaves effects that nobody acked.
func (d *Database) Deliver(ctx context.Context, m *outbox.Message, v Delivery) error {
	if err := network(ctx); err != nil {
		return err
	}
	outcome := v.Fate
	err := d.Transact(ctx, func(tx *sql.Tx) error {
		if outcome == Sent {
			res, err := tx.ExecContext(ctx, d.Text(v.Effect), v.Args...)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				outcome = Duplicate
			}
		}
		_, err := tx.ExecContext(ctx, d.Text(v.Note),
			m.ID.String(), v.Subject, m.Topic, m.RetryCount+1, outcome, os.Getpid(), time.Now().UnixMicro())
		return err
	})
	if err != nil {
		return err
	}
	switch outcome {
	case Refused:
		return errors.New("the other side is busy")
	case Rejected:
		return outbox.Permanent(v.No)
	}
	return network(ctx)
}

// network is 2 to 8 ms of waiting for another machine.
func network(ctx context.Context) error {
	return engine.Sleep(ctx, 2*time.Millisecond+rand.N(6*time.Millisecond))
}

// Dice throws a dice that falls the same way for the same text each time.
func Dice(sides uint32, text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // a hash cannot fail
	return h.Sum32() % sides
}
