package anydriver

import (
	"github.com/bravellian/pawl/internal/engine/op"
)

// The operations of the doctor that take more than one statement on SQLite.

func placeAgain(t *txn, o op.DoctorPlace) (int64, error) {
	n, err := t.changeAudited(o.Note, "fix", o)
	t.woke = t.woke || n > 0
	return n, err
}

func adoptAudited(t *txn, o op.DoctorAdopt) (int64, error) {
	n, err := adoptLanes(t, nil)
	if err != nil {
		return 0, err
	}
	return n, t.audit(o.Note, "fix", n)
}
