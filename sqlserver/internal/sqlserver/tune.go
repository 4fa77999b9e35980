package sqlserver

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// claiming is a claim with the engine's own parameter.
type claiming struct {
	Queue     string
	Owner     [16]byte
	Most      int
	Lease     int64 // microseconds
	Versioned bool  // the database has READ_COMMITTED_SNAPSHOT ON
}

type outboxClaim struct {
	engine.Rows[op.OutboxClaimed]
	claiming
	Wait  *time.Duration
	Apart *string
}

type outboxClaimAny struct {
	engine.Rows[op.OutboxClaimed]
	claiming
}

type outboxClaimSuspects struct {
	engine.Rows[op.OutboxClaimed]
	claiming
}

// statements returns those that only SQL Server has, without values.
func statements() []engine.Operation {
	return append(doctorStatements(), outboxClaim{}, outboxClaimAny{}, outboxClaimSuspects{})
}

// tuned reports whether an operation is sent as one of the engine's own.
func tuned(o engine.Operation) bool {
	switch o.(type) {
	case op.OutboxClaim, op.OutboxClaimAny, op.OutboxClaimSuspects:
		return true
	}
	return false
}

// tune adds the engine's own parameters to an operation. finish, if not nil, is to be
// called when the call succeeded.
func (db *DB) tune(c *engine.Call) (o engine.Operation, each func(engine.Row) error, finish func()) {
	each = c.Each
	switch o := c.Operation.(type) {
	case op.GenerationCheck:
		each, finish = db.history.Rows()
		return o, each, finish
	case op.OutboxClaim:
		return outboxClaim{claiming: db.claiming(o.Queue, o.Owner, o.Lease.Microseconds(), o.Most), Wait: o.Wait, Apart: o.Apart}, each, nil
	case op.OutboxClaimAny:
		return outboxClaimAny{claiming: db.claiming(o.Queue, o.Owner, o.Lease.Microseconds(), o.Most)}, each, nil
	case op.OutboxClaimSuspects:
		return outboxClaimSuspects{claiming: db.claiming(o.Queue, o.Owner, o.Lease.Microseconds(), o.Most)}, each, nil
	}
	return c.Operation, each, nil
}

func (db *DB) claiming(queue string, owner [16]byte, lease int64, most int) claiming {
	return claiming{queue, owner, most, lease, db.versioned.Load()}
}
