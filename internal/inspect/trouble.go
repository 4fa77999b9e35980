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
	calls, list := ListTrouble()
	err := engine.ReadAll(ctx, db, calls...)
	return list(), err
}

// ListTrouble returns the calls that read what ReadTrouble returns, for callers that read more in the
// same round trip, and a function that returns it once they were answered.
func ListTrouble() ([]*engine.Call, func() []Trouble) {
	var rows []op.Activity
	var clock op.Clock
	calls := []*engine.Call{engine.One(op.ClockNow{}, &clock), engine.List(op.ActivityTrouble{Minutes: hour, Most: activity.MaxRows}, &rows)}
	return calls, func() []Trouble { return troubles(rows, clock.Now.Unix()/60) }
}

func troubles(rows []op.Activity, now int64) (all []Trouble) {
	minutes := map[[2]string]map[int64]*activity.Totals{}
	for i := range rows {
		r := &rows[i]
		n, err := activity.Of(r)
		if err != nil {
			continue
		}
		k, minute := [2]string{r.Topic, r.Queue}, min(r.Minute, now) // a worker may be ahead
		if minutes[k] == nil {
			minutes[k] = map[int64]*activity.Totals{}
		}
		if minutes[k][minute] == nil {
			minutes[k][minute] = &activity.Totals{}
		}
		minutes[k][minute].Add(n)
	}
	for k, of := range minutes {
		all = append(all, troubleOf(k[1], k[0], of, now))
	}
	slices.SortFunc(all, func(a, b Trouble) int { return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Queue, b.Queue)) })
	return all
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
