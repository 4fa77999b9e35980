package job_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/dbtest"
	"github.com/bravellian/pawl/internal/jobtest"
)

func TestConformance(t *testing.T) { dbtest.EachEngine(t, jobtest.Run) }
