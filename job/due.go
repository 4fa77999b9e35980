package job

import (
	"errors"
	"time"

	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/access"
)

var errNever = errors.New("never fires in its zone")

// outcome is a run or a record of missed runs, for one or more nominal times.
type outcome struct {
	nominal time.Time
	missed  int64 // 0: a run; otherwise how many times were missed, nominal being the first
}

// maxCount is how many times are counted one by one. Beyond that, only the latest matter: a job
// of every second that did not run for a year has missed 31 million.
const maxCount = 100_000

// overdue is the nominal times first … now of a schedule.
type overdue struct {
	first  time.Time
	count  int64       // a lower bound if it is above maxCount
	latest []time.Time // the last of them, up to as many as asked for
	next   time.Time   // the first after now
	ends   bool        // there is no next
}

// overdueTimes returns the times of a schedule from first, which is due, to now. keep bounds latest.
func overdueTimes(s *cron.Schedule, zone *time.Location, first, now time.Time, keep int) overdue {
	o := overdue{first: first}
	t, ok := first, true
	for ; ok && !t.After(now) && o.count < maxCount; t, ok = s.Next(t, zone) {
		o.add(t, keep)
	}
	if ok && !t.After(now) {
		t, ok = o.skipAhead(s, zone, t, now, keep)
	}
	o.next, o.ends = t, !ok
	return o
}

func (o *overdue) add(t time.Time, keep int) {
	o.count++
	if len(o.latest) == keep {
		o.latest = append(o.latest[:0], o.latest[1:]...)
	}
	o.latest = append(o.latest, t)
}

// maxLookBack bounds how far skipAhead reads back: a corrupt time can be anywhere.
const maxLookBack = 100 * 365 * 24 * time.Hour

// skipAhead continues near now: it doubles the range before now until that has enough times.
func (o *overdue) skipAhead(s *cron.Schedule, zone *time.Location, from, now time.Time, keep int) (time.Time, bool) {
	for back := time.Minute; ; back *= 2 {
		since := now.Add(-back)
		whole := since.Before(from)
		if whole {
			since = from.Add(-max(s.Every(access.Key{}), time.Nanosecond))
		} else if s.Every(access.Key{}) > 0 {
			since = lastMultiple(from, since, s.Every(access.Key{}))
		}
		near := overdue{}
		t, ok := s.Next(since, zone)
		for ; ok && !t.After(now); t, ok = s.Next(t, zone) {
			near.add(t, keep)
		}
		if len(near.latest) == keep || whole || back > maxLookBack {
			o.count += near.count
			o.latest = append(o.latest, near.latest...)
			o.latest = o.latest[len(o.latest)-min(keep, len(o.latest)):]
			return t, ok
		}
	}
}

// lastMultiple returns the last time not after t that is a multiple of a distance from first:
// @every counts from its last time.
func lastMultiple(first, t time.Time, every time.Duration) time.Time {
	for d := t.Sub(first); d >= every; d = t.Sub(first) { // a Duration ends after 292 years
		first = first.Add(d - d%every)
	}
	return first
}

// decide returns which of the overdue times become runs, and records the others as missed
// (D-83).
func (o *overdue) decide(policy Misfire, limit int, shift time.Duration, now time.Time) []outcome {
	runs := o.latest
	switch policy {
	case RunAll:
		runs = runs[len(runs)-min(limit, len(runs)):]
	case RunNone:
		runs = runs[len(runs)-1:]
		if now.Sub(runs[0].Add(shift)) > misfireGrace {
			runs = nil
		}
	default:
		runs = runs[len(runs)-1:]
	}
	var made []outcome
	if missed := o.count - int64(len(runs)); missed > 0 {
		made = append(made, outcome{o.first, missed})
	}
	for _, t := range runs {
		made = append(made, outcome{nominal: t})
	}
	return made
}
