package activity

import (
	"testing"

	"github.com/bravellian/pawl/internal/worker"
)

// D-616: what was cancelled while it ran is not counted as done.
func TestCancelledIsNotDone(t *testing.T) {
	if counted(worker.OutcomeCancelled) {
		t.Error("it is counted")
	}
}
