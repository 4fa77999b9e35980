package anydriver

import (
	"github.com/bravellian/pawl/internal/engine/op"
)

// doctorStrayMove moves a message that waits and is not in line to where it is put in order.
type doctorStrayMove byID

func repairAudited(t *txn, o op.DoctorLineRepair) (int64, error) {
	n, err := repairLine(t, o.ID)
	if err != nil {
		return 0, err
	}
	return n, t.audit(o.Note, "fix", n)
}

func repairLine(t *txn, id int64) (int64, error) {
	m, found, err := inLineAt(t, id)
	switch {
	case err != nil:
		return 0, err
	case !found:
		n, err := t.change(doctorStrayMove{ID: id})
		t.woke = t.woke || n > 0
		return n, err
	case !m.Head && !m.Headless:
		return 0, nil
	case !m.Head:
		first, _, err := one(t, outboxOrderNext{Lane: m.Lane, Key: m.Key})
		if err != nil {
			return 0, err
		}
		if m, _, err = inLineAt(t, first.ID); err != nil {
			return 0, err
		}
	}
	if m.Place == op.LinePlaceFree || m.Place == op.LinePlaceFailed { // others wait for it as they should, if it is the head
		if m.Head {
			return 0, nil
		}
		return t.change(outboxOrderLead{ID: m.ID})
	}
	if err := lead(t, m.Lane, m.Key); err != nil {
		return 0, err
	}
	return 1, nil
}

func inLineAt(t *txn, id int64) (m op.DoctorLine, found bool, err error) {
	m, found, err = one(t, op.DoctorLines{After: id - 1, Most: 1})
	return m, found && m.ID == id, err
}
