package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// leases adds the operations on leases.
func (a answers) leases() {
	counting(a, func(t *txn, o op.LeaseForce) (int64, error) { return t.changeAudited(o.Note, "release", o) })
}

func leaseStatements() []engine.Operation { return []engine.Operation{op.LeaseForce{}} }
