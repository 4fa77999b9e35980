package nemesis

import (
	"context"
	"errors"
	"time"
)

// clockFaults step the server's clock by minutes. One that went back comes forward again: what
// was due before is due then.
func clockFaults() []Fault {
	minutes := func(s Step) time.Duration {
		const most = 10
		return time.Duration(1+s.Pick%most) * time.Minute
	}
	return []Fault{
		{Name: "clock-forward", Engines: Postgres, Track: Servers, Harms: true, Owned: true, Clock: true, Do: func(_ context.Context, w *World, s Step) error {
			return w.step(minutes(s))
		}},
		{
			Name: "clock-back", Engines: Postgres, Track: Servers, Harms: true, Owned: true, Clock: true, Low: time.Second, High: 4 * time.Second,
			Do: func(ctx context.Context, w *World, s Step) error {
				err := w.step(-minutes(s))
				wait(ctx, s.Hold)
				return errors.Join(err, w.step(minutes(s)))
			},
		},
	}
}
