package timer_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/timertest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, timertest.Run) }
