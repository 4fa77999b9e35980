package activity

import (
	"context"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	hour = 60 // minutes
	// keepMinutes is how long rows of minutes are kept, and keepHours those of hours.
	keepMinutes = 24 * hour
	keepHours   = 30 * 24 * hour
	// maxLate is how long after a minute its rows may still change: processes write every ten
	// seconds, unless the database does not answer.
	maxLate = 5
	// MaxRows bounds what one read of rows returns.
	MaxRows = 200_000
)

// CleanUp adds up hours that ended, and deletes rows that are too old: of minutes after a day, of hours
// after 30 days. It returns how many it deleted. Any number of processes may do it at once: all write
// the same.
func CleanUp(ctx context.Context, db engine.DB) (deleted int64, err error) {
	clock, _, err := engine.Get(ctx, db, op.ClockNow{})
	if err != nil {
		return 0, err
	}
	extent, _, err := engine.Get(ctx, db, op.ActivityExtent{})
	if err != nil || extent.FirstMinute == 0 && extent.FirstHour == 0 {
		return 0, err
	}
	now := minuteOf(clock.Now)
	// The last hour that was added up may have been written to since.
	for from := max(extent.LastHour, extent.FirstMinute/hour*hour); from+hour+maxLate <= now; from += hour {
		if err := addUp(ctx, db, from); err != nil {
			return 0, err
		}
	}
	for _, old := range []struct {
		grain       int
		first, keep int64
	}{{1, extent.FirstMinute, now - keepMinutes}, {hour, extent.FirstHour, now - keepHours}} {
		if old.first == 0 {
			continue
		}
		for first := old.first; first < old.keep; { // so that each transaction is bounded
			first = min(first+hour, old.keep)
			n, err := engine.Exec(ctx, db, nil, op.ActivityPurge{Grain: old.grain, Before: first})
			if deleted += n; err != nil {
				return deleted, err
			}
		}
	}
	return deleted, nil
}

// addUp writes the sums of an hour.
func addUp(ctx context.Context, db engine.DB, from int64) error {
	sums := map[key]*Totals{}
	err := Each(ctx, db, op.ActivityList{Grain: 1, From: from, Until: from + hour, Most: MaxRows}, func(r *op.Activity, t *Totals) {
		k := key{from, r.Queue, r.Topic}
		if sums[k] == nil && len(sums) >= maxTopics {
			k = key{minute: from}
		}
		if sums[k] == nil {
			sums[k] = &Totals{}
		}
		sums[k].Add(t)
	})
	if err != nil || len(sums) == 0 {
		return err
	}
	var calls []*engine.Call
	for k, t := range sums {
		t.keepCommonest()
		calls = append(calls, engine.Ask(op.ActivityPut{Activity: t.Row(hour, from, k.queue, k.topic, uuid.Nil)}))
	}
	return db.Do(ctx, calls...)
}

// Each passes the rows of a list on, in its order. Rows that cannot be read are left out.
func Each(ctx context.Context, db engine.DB, o engine.Answering[op.Activity], f func(*op.Activity, *Totals)) error {
	var all []op.Activity
	if err := db.Read(ctx, engine.List(o, &all)); err != nil {
		return err
	}
	for i := range all {
		if t, err := Of(&all[i]); err == nil {
			f(&all[i], t)
		}
	}
	return nil
}
