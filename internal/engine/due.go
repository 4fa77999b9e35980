package engine

import "time"

// endOfDue is the first second that is no due time: 10000-01-01 UTC. Engines and JSON can
// represent what is before it.
const endOfDue = 253_402_300_800

// CheckDue returns an error for a due time after the year 9999. Any time in the past is
// accepted: it means now.
func CheckDue(field string, at time.Time) error {
	// By seconds: Year and Before overflow for the far future.
	if at.Unix() >= endOfDue {
		return Invalid(field, "after the year 9999")
	}
	return nil
}

// Due returns what an engine stores for the due time *at: at itself, or nil, which is the
// database's now, for the zero time and every other time before 1970. All components use
// it, so that the zero dates of other systems, the year 1 for instance, mean the same
// everywhere and neither are claimed first nor overflow microseconds and durations.
func Due(at *time.Time) *time.Time {
	if at.Unix() < 0 {
		return nil
	}
	return at
}
