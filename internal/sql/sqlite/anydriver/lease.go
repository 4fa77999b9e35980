package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// leases adds the operations on leases.
func (a answers) leases() { counting(a, forceLease) }

func leaseStatements() []engine.Operation { return []engine.Operation{leaseForceRow{}} }

type leaseForceRow struct {
	engine.Changes
	Name string
}

func forceLease(t *txn, o op.LeaseForce) (int64, error) {
	return t.changeAudited(o.Note, "release", leaseForceRow{Name: o.Name})
}
