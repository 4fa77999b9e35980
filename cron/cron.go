// Package cron reads cron expressions and computes when they fire next. It is
// pure functions over values: it starts nothing, reads no clock, and stores
// nothing.
//
// # Expressions
//
// An expression has five fields (minute, hour, day of month, month, day of
// week) or six, with the second first. A field is a list of parts:
//
//   - every value            */5     every fifth, from the first
//     7      one value              7/5     every fifth from 7 to the highest
//     1-5    a range                1-30/5  every fifth of a range
//
// Months and weekdays have names (JAN, MON) in either case; Sunday is 0 and 7,
// and SUN. A range runs upwards; SUN may end one: FRI-SUN. In the day of month
// L is the last day, L-2 two days before it, LW the last weekday (Monday to
// Friday) of the month, and 15W the weekday nearest to the 15th within the
// month. In the day of week 5L is the last Friday of the month and 5#3 the
// third.
//
// When the day of month and the day of week are both restricted, a day has to
// match either one, otherwise both. Restricted is a field that does not begin
// with "*", as in Vixie's cron: "0 0 */2 * MON" fires on Mondays that have an
// odd date.
//
// The macros are @yearly, @annually, @monthly, @weekly, @daily, @midnight,
// @hourly, and @every with a duration of at least a second: "@every 90s".
//
// Refused are zone prefixes (TZ=…, the zone is an argument of its own), ranges
// that wrap around, empty parts, steps that are larger than their field (*/90
// minutes would fire every hour), the "?" of Quartz (which counts weekdays from
// 1, so its expressions would fire on other days here), expressions that never
// fire such as 30 February, and what is longer than 256 bytes.
//
// # When clocks change
//
// An interval schedule is one whose hour or minute field begins with "*". It
// follows real time: it fires whenever the clock on the wall shows a time that
// matches, so it fires in both of an hour that there is twice, and never in an
// hour that there is not.
//
// Every other schedule is a list of fixed times. Each fires once, at the first
// instant at which the clock shows that time or has passed it: a time that
// exists twice fires at the first, and one that does not exist fires at the
// first instant after the gap. Several fixed times in one gap, be it half an
// hour or the whole day that Samoa skipped, fire once together.
package cron

import (
	"time"

	"github.com/bravellian/pawl/internal/access"
)

// minEvery is the shortest duration that @every takes.
const minEvery = time.Second

// Schedule is a parsed expression. It does not change, is safe for concurrent
// use, and holds no zone. The zero Schedule never fires.
type Schedule struct {
	expr  string
	every time.Duration // of @every, which uses nothing below

	// Bit n of a set stands for the value n.
	second, minute, hour, month uint64
	days                        days

	interval bool // follows real time (D-81)
}

// Every returns the distance of an @every schedule, whose times count from any
// other; 0 for all others, whose times are the clock's. Programs cannot name its parameter.
func (s *Schedule) Every(access.Key) time.Duration { return s.every }
