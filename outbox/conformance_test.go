package outbox_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/outboxtest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, outboxtest.Run) }
