package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

func clocks() []engine.Operation { return []engine.Operation{ClockNow{}} }

// ClockNow asks what time it is. One row.
type ClockNow struct{ engine.Rows[Clock] }

// Clock is what time it is, by the database's clock.
type Clock struct{ Now time.Time }
