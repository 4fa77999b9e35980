package join_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/jointest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, jointest.Run) }

// D-33, D-39, D-113: a role's default isolation level changes nothing.
func TestConcurrencyAtRepeatableRead(t *testing.T) {
	jointest.RunConcurrent(t, dbtest.RepeatableRead())
}
