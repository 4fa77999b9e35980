package op

import "github.com/bravellian/pawl/internal/engine"

// The states that tables store as numbers.
var (
	OutboxStatuses = engine.Words{"ready", "running", "done", "failed", "discarded"}
	JoinStatuses   = engine.Words{"pending", "completed", "failed", "cancelled"}
	TimerStatuses  = engine.Words{"scheduled", "claimed", "fired", "failed", "cancelled"}
	RunStatuses    = engine.Words{"pending", "running", "succeeded", "failed", "cancelled", "skipped", "missed"}
)
