package cron

import (
	"math/bits"
	"time"
)

// horizon is how far Next looks: the calendar's period, after which nothing
// comes that did not come before.
const horizon = 146097 * daySeconds

// Next returns the first time after another at which the schedule fires in a
// zone, nil being UTC; the zone of after plays no part. It is strictly later
// than after, a whole second, and in the zone.
//
// @every is the exception: its next time is after plus the duration, to the
// nanosecond and whatever the zone, so that asking with the last time again and
// again keeps the distance.
//
// Next answers false when there is no such time before the year 10000 or within
// 400 years. The latter takes an interval schedule all of whose times fall into
// hours that the zone skips.
func (s *Schedule) Next(after time.Time, zone *time.Location) (time.Time, bool) {
	if zone == nil {
		zone = time.UTC
	}
	begin := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if !after.Before(end) {
		return time.Time{}, false
	}
	if s.every > 0 {
		next := after.Add(s.every)
		if !next.Before(end) {
			return time.Time{}, false
		}
		return next.In(zone), true
	}
	// Seconds before the year 1 may not fit.
	u := begin.Unix()
	if !after.Before(begin) {
		u = after.Unix() + 1
	}
	next, ok := s.next(u, min(u+horizon, end.Unix()), zone)
	if !ok {
		return time.Time{}, false
	}
	return time.Unix(next, 0).In(zone), true
}

// next returns the first instant from u on, and before limit, at which the
// schedule fires. It goes through the spans of the zone. In each it looks for
// the first matching time on the wall (D-81)
//
//   - that the span shows, if the schedule follows real time;
//   - that was neither shown nor passed before, if its times are fixed. One that
//     the clock jumped over at the start of the span counts as shown right then.
func (s *Schedule) next(u, limit int64, zone *time.Location) (int64, bool) {
	var fresh int64 // of fixed times: from here on none was shown
	if !s.interval {
		fresh = shownBefore(u, zone)
	}
	var wall, lowest int64 // the first match that is not before lowest
	found := false
	for u < limit {
		sp := spanAt(u, zone)
		from := fresh
		if s.interval {
			from = u + sp.offset
		}
		if !found || from < lowest || from > wall {
			if wall, found = s.nominal(from, limit+lookBack); !found {
				return 0, false
			}
			lowest = from
		}
		if wall < sp.end+sp.offset {
			at := max(wall-sp.offset, u)
			return at, at < limit
		}
		u = sp.end
		fresh = max(fresh, sp.end+sp.offset)
	}
	return 0, false
}

// nominal returns the first matching time on the wall that is not before from,
// and that is before limit or in its month. It knows nothing of zones.
func (s *Schedule) nominal(from, limit int64) (int64, bool) {
	t := time.Unix(from, 0).UTC()
	first := s.clock(0, 0, 0)
	day, clock := t.Day(), s.clock(t.Clock())
	if clock < 0 {
		day, clock = day+1, first
	}
	year, month, _ := t.Date()
	for {
		start := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		if start.Unix() >= limit {
			return 0, false
		}
		if s.month>>month&1 != 0 {
			left := s.days.matches(pageOf(start)) >> day << day
			match := bits.TrailingZeros32(left)
			if left != 0 && match > day {
				clock = first
			}
			if left != 0 {
				return start.Unix() + int64(match-1)*daySeconds + clock, true
			}
		}
		day, clock = 1, first
		if month++; month > time.December {
			year, month = year+1, time.January
		}
	}
}

// clock returns the first matching time of day that is not before another, in
// seconds, or -1.
func (s *Schedule) clock(hour, minute, second int) int64 {
	h := nextIn(s.hour, hour)
	if h > hour {
		minute, second = 0, 0
	}
	m := nextIn(s.minute, minute)
	if m > minute {
		second = 0
	}
	sec := nextIn(s.second, second)
	if sec > 59 { // not in this minute
		m, sec = nextIn(s.minute, m+1), nextIn(s.second, 0)
	}
	if m > 59 { // not in this hour
		h, m, sec = nextIn(s.hour, h+1), nextIn(s.minute, 0), nextIn(s.second, 0)
	}
	if h > 23 {
		return -1
	}
	return int64(h*3600 + m*60 + sec)
}

// nextIn returns the first value of a set that is not before another, or 64.
func nextIn(set uint64, from int) int {
	return bits.TrailingZeros64(set >> from << from)
}
