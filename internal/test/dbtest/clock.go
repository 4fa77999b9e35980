package dbtest

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// ClockOff is a database as a process sees it whose own clock is ahead of it.
func ClockOff(db engine.DB, ahead time.Duration) engine.DB { return &clockOff{db, ahead} }

type clockOff struct {
	engine.DB
	ahead time.Duration
}

func (c *clockOff) Read(ctx context.Context, call *engine.Call) error {
	if each := call.Each; call.Name() == "clock/now" {
		call.Each = func(r engine.Row) error { return each(earlierRow{r, c.ahead}) }
	}
	return c.DB.Read(ctx, call)
}

type earlierRow struct {
	engine.Row
	by time.Duration
}

func (r earlierRow) Scan(dest ...any) error {
	err := r.Row.Scan(dest...)
	if t, ok := dest[0].(*time.Time); ok {
		*t = t.Add(-r.by)
	}
	return err
}
