package admin

import "time"

// SetNow gives a another clock for what this program's shows.
func (a *Admin) SetNow(now func() time.Time) { a.now = now }
