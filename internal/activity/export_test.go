package activity

import "time"

// SetClock has the database's clock show a time now.
func (c *Counters) SetClock(clock time.Time) { c.sync(clock, time.Now()) }
