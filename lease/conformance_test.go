package lease_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/leasetest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, leasetest.Run) }
