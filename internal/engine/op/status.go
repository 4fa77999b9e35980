package op

import "github.com/bravellian/pawl/internal/engine"

// OutboxStatuses returns the states of messages.
func OutboxStatuses() engine.Words {
	return engine.Words{"ready", "running", "done", "failed", "discarded", "expired"}
}

// JoinStatuses returns the states of joins and members.
func JoinStatuses() engine.Words {
	return engine.Words{"pending", "completed", "failed", "cancelled"}
}

// TimerStatuses returns the states of timers.
func TimerStatuses() engine.Words {
	return engine.Words{"scheduled", "claimed", "fired", "failed", "cancelled"}
}

// Misfires returns the misfire policies of jobs.
func Misfires() engine.Words { return engine.Words{"once", "none", "all"} }

// Overlaps returns the overlap policies of jobs.
func Overlaps() engine.Words { return engine.Words{"allow", "skip"} }

// RunStatuses returns the states of runs of jobs.
func RunStatuses() engine.Words {
	return engine.Words{"pending", "running", "succeeded", "failed", "cancelled", "skipped", "missed"}
}
