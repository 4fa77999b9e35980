package explain_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/explaintest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, explaintest.Run) }
