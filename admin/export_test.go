package admin

import (
	"time"

	"github.com/bravellian/pawl/internal/pause"
)

// SetNow gives a another clock for what this program's shows.
func (a *Admin) SetNow(now func() time.Time) { a.now = now }

// PausesOf returns the pauses that the workers of an admin's process obey.
func PausesOf(a *Admin) *pause.Pauses { return a.pauses }
