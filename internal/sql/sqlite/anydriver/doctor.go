package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// The operations of the doctor that SQLite cannot say in one statement.

// doctor adds what answers an operation of the doctor.
func (a answers) doctor() { counting(a, adoptNoted) }

// doctorStatements are the statements of the doctor that only SQLite has.
func doctorStatements() []engine.Operation { return []engine.Operation{doctorObjects{}} }

func adoptNoted(t *txn, o op.DoctorAdopt) (int64, error) {
	n, err := adoptLanes(t, nil)
	if err != nil {
		return 0, err
	}
	return n, t.note(o.Note, "fix", n)
}
