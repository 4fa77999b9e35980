package op

import "github.com/bravellian/pawl/internal/engine"

// What tables store as numbers.
var (
	OutboxStatuses = engine.Words{"ready", "running", "done", "failed", "discarded"}
	JoinStatuses   = engine.Words{"pending", "completed", "failed", "cancelled"}
	TimerStatuses  = engine.Words{"scheduled", "claimed", "fired", "failed", "cancelled"}
	Misfires       = engine.Words{"once", "none", "all"}
	Overlaps       = engine.Words{"allow", "skip"}
	RunStatuses    = engine.Words{"pending", "running", "succeeded", "failed", "cancelled", "skipped", "missed"}
)
