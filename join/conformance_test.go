package join_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/jointest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, jointest.Run) }
