package doctor_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/doctortest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, doctortest.Run) }
