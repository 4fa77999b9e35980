package cron

import (
	"math/bits"
	"time"
)

// days says which days match, by the month and by the week.
type days struct {
	month    uint32 // days of the month, from bit 1
	fromLast uint32 // bit n: n days before the last (L, L-n)
	nearest  uint32 // the weekday nearest to these days of the month (15W)
	lastWork bool   // the last weekday of the month (LW)

	week     uint8    // weekdays, Sunday is bit 0
	nth      [5]uint8 // weekdays of which it is the first to fifth (5#3)
	lastWeek uint8    // weekdays of which it is the last (5L)

	either bool // one of both has to match, not both (D-80)
}

func (d *days) parseMonthDays(w word) error {
	r := &reader{field: field{name: "day of month", min: 1, max: 31}, word: w}
	return r.list(func() error {
		if r.take('L') {
			return d.parseFromLast(r)
		}
		if v, ok := r.valueBefore('W'); ok {
			d.nearest |= 1 << v
			return nil
		}
		set, err := r.part()
		d.month |= uint32(set)
		return err
	})
}

func (d *days) parseFromLast(r *reader) error {
	before := 0
	switch {
	case r.take('W'):
		d.lastWork = true
		return nil
	case r.take('-'):
		var err error
		if before, err = r.number(1, 30); err != nil {
			return err
		}
	}
	d.fromLast |= 1 << before
	return nil
}

func (d *days) parseWeekdays(w word) error {
	r := &reader{field: field{name: "day of week", max: 7, names: weekdayNames, week: true}, word: w}
	return r.list(func() error {
		if r.peek() == 'L' {
			return r.fault("a weekday has to be before the L")
		}
		if v, ok := r.valueBefore('L'); ok {
			d.lastWeek |= 1 << (v % 7)
			return nil
		}
		if v, ok := r.valueBefore('#'); ok {
			n, err := r.number(1, 5)
			if err == nil {
				d.nth[n-1] |= 1 << (v % 7)
			}
			return err
		}
		set, err := r.part()
		d.week |= uint8(set)
		return err
	})
}

// A page is a month of the calendar.
type page struct {
	length int          // days
	first  time.Weekday // of day 1
}

// pageOf returns the page of the month that begins at t.
func pageOf(t time.Time) page {
	return page{length: t.AddDate(0, 1, -1).Day(), first: t.Weekday()}
}

func (p page) weekday(day int) time.Weekday {
	return (p.first + time.Weekday(day-1)) % 7
}

// matches returns the days of a month that match, from bit 1.
func (d *days) matches(p page) uint32 {
	if d.either {
		return d.byMonth(p) | d.byWeek(p)
	}
	return d.byMonth(p) & d.byWeek(p)
}

func (d *days) byMonth(p page) uint32 {
	set := d.month & (1<<(p.length+1) - 2)
	for rest := d.fromLast; rest != 0; rest &= rest - 1 {
		if day := p.length - bits.TrailingZeros32(rest); day >= 1 {
			set |= 1 << day
		}
	}
	for rest := d.nearest; rest != 0; rest &= rest - 1 {
		if day := bits.TrailingZeros32(rest); day <= p.length {
			set |= 1 << p.nearestWork(day)
		}
	}
	if d.lastWork {
		set |= 1 << p.nearestWork(p.length)
	}
	return set
}

// nearestWork returns the weekday nearest to a day without leaving the month.
func (p page) nearestWork(day int) int {
	switch wd := p.weekday(day); {
	case wd == time.Saturday && day > 1:
		return day - 1
	case wd == time.Saturday:
		return day + 2
	case wd == time.Sunday && day < p.length:
		return day + 1
	case wd == time.Sunday:
		return day - 2
	}
	return day
}

func (d *days) byWeek(p page) uint32 {
	if d.week == 0x7f {
		return 1<<(p.length+1) - 2
	}
	var set uint32
	for day := 1; day <= p.length; day++ {
		match := d.week | d.nth[(day-1)/7]
		if day+7 > p.length {
			match |= d.lastWeek
		}
		set |= uint32(match>>p.weekday(day)&1) << day
	}
	return set
}
