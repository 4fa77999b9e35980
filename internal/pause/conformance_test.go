package pause_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/operatetest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, operatetest.Pause) }
