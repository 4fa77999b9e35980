package activity

import "time"

// SetClock has the database's clock show a time now.
func (c *Counters) SetClock(clock time.Time) {
	now := time.Now()
	c.sync(clock, now, now)
}

// Answered has the database's clock say a time in answer to a question that took a while.
func (c *Counters) Answered(clock time.Time, took time.Duration) {
	now := time.Now()
	c.sync(clock, now.Add(-took), now)
}
