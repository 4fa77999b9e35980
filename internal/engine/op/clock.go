package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// ClockNow asks the database what time it is, and so whether it is there. One row.
type ClockNow struct{ engine.Rows[Clock] }

// Clock is the time by the database's clock.
type Clock struct{ Now time.Time }
