package inspect

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	// current is for how many minutes what workers saw counts as what is.
	current = 5
	// putBack is after how many minutes messages without a handler have come back: their delay grows
	// to a minute.
	putBack = 3
)

// Trouble is a topic of which within an hour attempts failed, or messages had no handler.
type Trouble struct {
	Queue, Topic string
	// Streak has what happened from Since on: since then in each minute more attempts failed than
	// succeeded, up to the latest one in which any ended. Since is zero, and Streak
	// empty, where in that minute as many succeeded, or none ended within five minutes.
	Streak activity.Totals
	Since  time.Time
	// Unhandled is for how long messages have been put back for want of a handler; 0: they are not.
	Unhandled time.Duration
	// Last5 and Last60 have what happened in the last so many minutes.
	Last5, Last60 activity.Totals
}

// ReadTrouble returns these topics, by name. It reads what workers wrote of them in that time, and no
// messages.
func ReadTrouble(ctx context.Context, db engine.DB) ([]Trouble, error) {
	clock, _, err := engine.Get(ctx, db, op.ClockNow{})
	if err != nil {
		return nil, err
	}
	now := clock.Now.Unix() / 60
	minutes := map[[2]string]map[int64]*activity.Totals{}
	err = activity.Each(ctx, db, op.ActivityTrouble{From: now - hour, Until: now + hour, Most: activity.MaxRows}, func(r *op.Activity, n *activity.Totals) {
		k := [2]string{r.Topic, r.Queue}
		if minutes[k] == nil {
			minutes[k] = map[int64]*activity.Totals{}
		}
		minute := min(r.Minute, now) // a minute of a worker's that is ahead
		if minutes[k][minute] == nil {
			minutes[k][minute] = &activity.Totals{}
		}
		minutes[k][minute].Add(n)
	})
	var all []Trouble
	for k, of := range minutes {
		all = append(all, troubleOf(k[1], k[0], of, now))
	}
	slices.SortFunc(all, func(a, b Trouble) int { return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Queue, b.Queue)) })
	return all, err
}

func troubleOf(queue, topic string, minutes map[int64]*activity.Totals, now int64) Trouble {
	t := Trouble{Queue: queue, Topic: topic}
	streak, unhandled := true, now
	for minute := now; minute > now-hour; minute-- {
		n := minutes[minute]
		if n == nil {
			continue
		}
		t.Last60.Add(n)
		if minute > now-current {
			t.Last5.Add(n)
		}
		if n.Unhandled > 0 && unhandled-minute <= putBack {
			unhandled, t.Unhandled = minute, time.Duration(now-minute+1)*time.Minute
		}
		if all, failed := n.Attempts(); all > 0 {
			streak = streak && 2*failed > all && (minute > now-current || !t.Since.IsZero())
			if streak {
				t.Streak.Add(n)
				t.Since = at(minute)
			}
		}
	}
	return t
}
