package inbox_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/inboxtest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, inboxtest.Run) }
