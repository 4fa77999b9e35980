package inspect

import (
	"context"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/pause"
)

// Stuck returns messages of the inbox that are being processed and were not heard of for
// limits.InboxStuck, those first that were not heard of for longest: at most so many, and whether
// there are more. One that cannot be read is among them, with what could be read.
func Stuck(ctx context.Context, db engine.DB, most int) (all []op.InboxMessage, more bool, err error) {
	all, err = engine.QueryAs(ctx, db, op.InboxStuck{Age: limits.InboxStuck, Most: most + 1}, func(m *op.InboxMessage, _ error) (op.InboxMessage, error) {
		return *m, nil
	})
	return all[:min(len(all), most)], len(all) > most, err
}

// Paused returns the pauses that hold, and those that ended and whose messages are not all back in
// their queues: nothing is stopped by these any more.
func Paused(ctx context.Context, db engine.DB) (hold, ending []pause.Pause, err error) {
	all, err := pause.New(db, nil).List(ctx)
	for _, p := range all {
		if p.Ending {
			ending = append(ending, p)
		} else {
			hold = append(hold, p)
		}
	}
	return hold, ending, err
}
