package cron

import (
	"math"
	"time"
)

// A span is a stretch of real time during which a zone has one offset. Instants
// are seconds since 1970 in UTC; the time on the wall is the instant plus the
// offset, as if that were UTC, too.
type span struct {
	end    int64 // not part of it
	offset int64
}

const (
	daySeconds = 24 * 60 * 60

	// How far back the clock may have shown later times than it does now: real
	// zones went back by at most a day (Alaska, 1867).
	lookBack = 2 * daySeconds

	// Far from anything that a search gets to, and from overflow.
	always = int64(math.MaxInt64) / 4
)

// spanAt returns the rest of a span from an instant on. It may end early: what
// comes after can have the same offset.
func spanAt(u int64, zone *time.Location) span {
	t := time.Unix(u, 0).In(zone)
	_, offset := t.Zone()
	sp := span{end: always, offset: int64(offset)}
	if _, end := t.ZoneBounds(); !end.IsZero() {
		sp.end = end.Unix()
	}
	if sp.end <= u {
		// On 31 December of leap years after the zone's table ZoneBounds takes
		// the year for 365 days long and answers with an end before the instant
		// (golang/go#81583). Nothing changes until midnight UTC: the rules that
		// follow the table are looked up per UTC year, and this is its last day.
		sp.end = u - mod(u, daySeconds) + daySeconds
	}
	return sp
}

// shownBefore returns the earliest time that the clock on the wall had neither
// shown nor passed before an instant.
func shownBefore(u int64, zone *time.Location) int64 {
	shown := -always
	for at := u - lookBack; at < u; {
		sp := spanAt(at, zone)
		at = min(sp.end, u)
		shown = max(shown, at+sp.offset)
	}
	return shown
}

func mod(a, b int64) int64 { return (a%b + b) % b }
