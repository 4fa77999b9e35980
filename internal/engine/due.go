package engine

import "time"

// endOfDue is the first second that is no due time: 10000-01-01 UTC. Engines and
// JSON express what lies before it.
const endOfDue = 253_402_300_800

// CheckDue refuses a due time after the year 9999. One in the past is fine,
// whichever year it has: it means now.
func CheckDue(field string, at time.Time) error {
	// By seconds: Year and Before answer for the far past when given the far future.
	if at.Unix() >= endOfDue {
		return Invalid(field, "after the year 9999")
	}
	return nil
}

// Due returns what an engine stores for the due time *at: at itself, or nil,
// which is the database's now, for the zero time and every other time before
// 1970. All components use it, so that the zero dates of other systems, the year
// 1 for instance, mean the same everywhere and neither jump the queue nor
// overflow microseconds and durations.
func Due(at *time.Time) *time.Time {
	if at.Unix() < 0 {
		return nil
	}
	return at
}
