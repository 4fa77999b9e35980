package outbox

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// ask has other processes tell of a message's end: asked says that they are asked, and now that they were not
// before, so that the end has to be read once more.
func (a *awaiting) ask(ctx context.Context, db engine.DB, at *awaited) (asked, now bool) {
	others, ok := engine.As[engine.EndTeller](db)
	if !ok {
		return false, false
	}
	a.mu.Lock()
	a.hear(others)
	asked = time.Since(at.asked) < askEvery
	a.mu.Unlock()
	if asked {
		return true, false
	}
	now = a.asks.Do(ctx, &asking{at, others}) == nil
	return now, now
}

// hear begins to hear what others tell, or ends it. The caller holds mu.
func (a *awaiting) hear(others engine.EndTeller) {
	if a.others == others {
		return
	}
	if a.others != nil {
		a.leaves()
	}
	if a.others = others; others != nil {
		a.leaves = others.HearEnds(a.heard)
	}
}

// heard is called with messages that have ended, or with nil if any may have.
func (a *awaiting) heard(positions []int64) {
	if positions != nil {
		a.notify(slices.Values(positions))
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range a.of {
		at.end()
	}
}

// askAll asks for the ends of a batch. So that processes with many waiters ask rarely, it asks again for all
// others that will soon be asked for again.
func (a *awaiting) askAll(ctx context.Context, batch []*asking) []error {
	now := time.Now()
	of := map[int64]*awaited{}
	for _, b := range batch {
		of[b.at.position] = b.at
	}
	a.mu.Lock()
	for p, at := range a.of {
		if !at.asked.IsZero() && now.Sub(at.asked) > askEvery/2 {
			of[p] = at
		}
	}
	a.mu.Unlock()
	if err := batch[0].others.AskEnds(ctx, slices.Collect(maps.Keys(of))); err != nil {
		return slices.Repeat([]error{err}, len(batch))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, at := range of {
		at.asked = now
	}
	return nil
}
