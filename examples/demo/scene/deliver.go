package scene

import (
	"context"
	"database/sql"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"time"

	"github.com/bravellian/pawl/outbox"
)

// How a delivery can end.
const (
	Sent      = "sent"      // it took effect
	Duplicate = "duplicate" // it had taken effect before
	Refused   = "refused"   // the other side is busy: again later
	Rejected  = "rejected"  // the other side will never take it
)

// Delivery is one call of a handler.
type Delivery struct {
	Subject string // the order or the run
	Fate    string // what the other side answers: Sent, Refused or Rejected
	No      error  // why it is rejected
	// Effect inserts a row whose key is the message's id, unless it is there: so a
	// message takes effect once, however often it is delivered.
	Effect string
	Args   []any
	// Note inserts what became of the call: ?1 message, ?2 subject, ?3 topic,
	// ?4 attempt, ?5 outcome, ?6 worker, ?7 microseconds since 1970.
	Note string
}

// Deliver is what the handlers do. It writes an effect and the note of it in one
// transaction. A worker that is killed after that has not acked the message: it is
// delivered again, and its effect found. An error that is Permanent fails the message;
// after another one it is delivered again later.
func (d *Database) Deliver(ctx context.Context, m *outbox.Message, v Delivery) error {
	if err := Network(ctx); err != nil {
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
	return Network(ctx)
}

// Network waits for 2 to 8 ms, as for another machine.
func Network(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2*time.Millisecond + rand.N(6*time.Millisecond)):
		return nil
	}
}

// Dice returns a number below sides, the same for a text each time.
func Dice(sides uint32, text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // a hash cannot fail
	return h.Sum32() % sides
}
