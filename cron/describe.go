package cron

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// maxTimes is how many times of day Describe lists before it describes the
// fields instead.
const maxTimes = 4

// Describe says in English when the schedule fires: "at 02:00 on weekdays".
func (s *Schedule) Describe() string {
	if s.every > 0 {
		return "every " + inWords(s.every)
	}
	if s.second == 0 {
		return "never"
	}
	when := s.describeDays()
	if times := s.timesOfDay(); times != "" {
		if when == "" {
			when = " every day"
		}
		return "at " + times + when + s.inMonths()
	}
	return s.describeClock() + when + s.inMonths()
}

// inWords writes a duration in words where it consists of whole seconds.
func inWords(d time.Duration) string {
	if d%time.Second != 0 {
		return d.String()
	}
	var parts []string
	rest := int(d / time.Second)
	for _, unit := range []struct {
		seconds int
		name    string
	}{{3600, "hour"}, {60, "minute"}, {1, "second"}} {
		n := rest / unit.seconds
		rest %= unit.seconds
		switch {
		case n == 1 && d < 2*time.Duration(unit.seconds)*time.Second && rest == 0 && parts == nil:
			return unit.name
		case n == 1:
			parts = append(parts, "1 "+unit.name)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n, unit.name))
		}
	}
	return join(parts, "and")
}

// timesOfDay lists the times of day if they are few.
func (s *Schedule) timesOfDay() string {
	if bits.OnesCount64(s.second) > 1 ||
		bits.OnesCount64(s.hour)*bits.OnesCount64(s.minute) > maxTimes {
		return ""
	}
	var times []string
	for _, h := range values(s.hour) {
		for _, m := range values(s.minute) {
			text := fmt.Sprintf("%02d:%02d", h, m)
			if s.second != 1 {
				text += fmt.Sprintf(":%02d", values(s.second)[0])
			}
			times = append(times, text)
		}
	}
	return join(times, "and")
}

// describeClock describes times of day by their fields.
func (s *Schedule) describeClock() string {
	everyHour := s.hour == 1<<24-1
	var text string
	n, offset, regular := steps(s.hour, 24)
	switch {
	case everyHour && s.minute == 1:
		text = "every hour"
	case regular && offset == 0 && s.minute == 1:
		text = fmt.Sprintf("every %d hours", n)
	case everyHour:
		text = unitPhrase(s.minute, "minute") + hourOf(s.minute)
	case s.minute == 1 && !regular && strings.HasPrefix(s.hourPhrase(), " from"):
		text = "every hour" + s.hourPhrase()
	default:
		text = unitPhrase(s.minute, "minute") + s.hourPhrase()
	}
	switch {
	case s.second == 1:
		return text
	case s.minute == 1<<60-1:
		return unitPhrase(s.second, "second") + minuteOf(s.second) + strings.TrimPrefix(text, "every minute")
	}
	return unitPhrase(s.second, "second") + minuteOf(s.second) + ", " + text
}

// hourOf and minuteOf follow a list of minutes or seconds that does not say how
// often it comes round.
func hourOf(minute uint64) string {
	if _, offset, regular := steps(minute, 60); regular && offset == 0 {
		return ""
	}
	return " of every hour"
}

func minuteOf(second uint64) string {
	if _, offset, regular := steps(second, 60); regular && offset == 0 {
		return ""
	}
	return " of every minute"
}

// unitPhrase describes a set of minutes or seconds.
func unitPhrase(set uint64, unit string) string {
	n, offset, regular := steps(set, 60)
	switch {
	case regular && n == 1:
		return "every " + unit
	case regular && offset == 0 && n < 60:
		return fmt.Sprintf("every %d %ss", n, unit)
	case bits.OnesCount64(set) == 1:
		return fmt.Sprintf("at %s %d", unit, values(set)[0])
	}
	return fmt.Sprintf("at %ss %s", unit, listed(set, fmt.Sprint))
}

// hourPhrase describes the hours, which are not all.
func (s *Schedule) hourPhrase() string {
	low, high := bits.TrailingZeros64(s.hour), 63-bits.LeadingZeros64(s.hour)
	minutes := values(s.minute)
	n, offset, regular := steps(s.hour, 24)
	switch {
	case regular && offset == 0:
		return fmt.Sprintf(" of every %s hour", ordinal(n))
	case low == high && len(minutes) == 1:
		return fmt.Sprintf(" of hour %d", low)
	case bits.OnesCount64(s.hour) == high-low+1:
		return fmt.Sprintf(" from %02d:%02d through %02d:%02d", low, minutes[0], high, minutes[len(minutes)-1])
	}
	return " of the hours " + listed(s.hour, fmt.Sprint)
}

// steps tells whether a set is every nth value of a cycle, and from where.
func steps(set uint64, cycle int) (n, offset int, ok bool) {
	count := bits.OnesCount64(set)
	if count == 0 || cycle%count != 0 {
		return 0, 0, false
	}
	n, offset = cycle/count, bits.TrailingZeros64(set)
	for v := offset; v < cycle; v += n {
		if set>>v&1 == 0 {
			return 0, 0, false
		}
	}
	return n, offset, offset < n
}

// describeDays says on which days, with a blank before it, or nothing for all.
func (s *Schedule) describeDays() string {
	d := &s.days
	month, week := d.monthPhrase(), d.weekPhrase()
	switch {
	case month == "" && week == "":
		return ""
	case d.either && (month == "" || week == ""):
		return "" // one of both is every day
	case month == "":
		return " on " + week
	case week == "":
		return " on " + month
	case d.either:
		return " on " + month + " or on " + week
	}
	return " on " + month + ", but only on " + week
}

// monthPhrase names days of the month, or nothing for all.
func (d *days) monthPhrase() string {
	var parts []string
	switch n := bits.OnesCount32(d.month); {
	case n == 31:
		return ""
	case n == 1:
		parts = append(parts, "day "+listed(uint64(d.month), fmt.Sprint))
	case n > 1:
		parts = append(parts, "days "+listed(uint64(d.month), fmt.Sprint))
	}
	for _, n := range values(uint64(d.nearest)) {
		parts = append(parts, fmt.Sprintf("the weekday nearest to day %d", n))
	}
	for _, n := range values(uint64(d.fromLast)) {
		if n == 0 {
			parts = append(parts, "the last day")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s before the last", plural(n, "day")))
	}
	if d.lastWork {
		parts = append(parts, "the last weekday")
	}
	return join(parts, "and") + " of the month"
}

// weekPhrase names days of the week, or nothing for all.
func (d *days) weekPhrase() string {
	var parts []string
	switch d.week {
	case 0x7f:
		return ""
	case 0x3e:
		parts = append(parts, "weekdays")
	case 0x41:
		parts = append(parts, "weekends")
	case 0:
	default:
		// Sunday is the last here, so that a weekend is one run.
		week := d.week>>1 | d.week&1<<6
		parts = append(parts, listed(uint64(week), func(v ...any) string {
			return weekday((v[0].(int) + 1) % 7)
		}))
	}
	ofMonth := ""
	for i, set := range d.nth {
		for _, wd := range values(uint64(set)) {
			parts = append(parts, "the "+ordinal(i+1)+" "+weekday(wd))
			ofMonth = " of the month"
		}
	}
	for _, wd := range values(uint64(d.lastWeek)) {
		parts = append(parts, "the last "+weekday(wd))
		ofMonth = " of the month"
	}
	return join(parts, "and") + ofMonth
}

func (s *Schedule) inMonths() string {
	if bits.OnesCount64(s.month) == 12 {
		return ""
	}
	return " in " + listed(s.month, func(v ...any) string { return time.Month(v[0].(int)).String() })
}

func weekday(n int) string { return time.Weekday(n).String() }

func ordinal(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	case 4:
		return "fourth"
	case 5:
		return "fifth"
	}
	return fmt.Sprintf("%dth", n)
}

func plural(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// values returns what is in a set, in order.
func values(set uint64) []int {
	var vs []int
	for ; set != 0; set &= set - 1 {
		vs = append(vs, bits.TrailingZeros64(set))
	}
	return vs
}

// listed lists a set, runs of three and more as ranges.
func listed(set uint64, name func(...any) string) string {
	var parts []string
	vs := values(set)
	for i := 0; i < len(vs); {
		end := i
		for end+1 < len(vs) && vs[end+1] == vs[end]+1 {
			end++
		}
		if end-i >= 2 {
			parts = append(parts, name(vs[i])+" through "+name(vs[end]))
			i = end + 1
			continue
		}
		parts = append(parts, name(vs[i]))
		i++
	}
	return join(parts, "and")
}

// join puts commas between parts and a word before the last.
func join(parts []string, word string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " " + word + " " + parts[last]
}
