package cron_test

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests mean the same zones on every machine

	"github.com/bravellian/pawl/cron"
)

// The oracle knows expressions not by parsing them but by having made them, and
// finds times by trying every one of them.

//go:embed testdata/zones.txt
var zoneNames string

// rng returns a new sequence each time, or the one that PAWL_SEED names. With
// PAWL_LONG the runs are long.
func rng(t testing.TB) (r *rand.Rand, long bool) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("PAWL_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("PAWL_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0)), os.Getenv("PAWL_LONG") != ""
}

// made is an expression with what it means.
type made struct {
	expr     string
	clock    [3]func(int) bool // hour, minute, second
	month    func(int) bool
	day      func(date time.Time) bool
	interval bool
}

// matches takes a time on the wall, in seconds since 1970.
func (m *made) matches(wall int64) bool {
	t := time.Unix(wall, 0).UTC()
	return m.clock[2](t.Second()) && m.clock[1](t.Minute()) && m.clock[0](t.Hour()) &&
		m.month(int(t.Month())) && m.day(t)
}

func not(int) bool { return false }

// plainPart makes a part of values around a hint.
func plainPart(r *rand.Rand, low, high, hint int) (string, func(int) bool) {
	pick := func() int {
		if r.IntN(3) > 0 {
			return min(max(low, hint-2+r.IntN(5)), high)
		}
		return low + r.IntN(high-low+1)
	}
	a, step := pick(), 1+r.IntN(high-low+1)
	b := a + r.IntN(high-a+1)
	switch r.IntN(6) {
	case 0:
		return "*", func(int) bool { return true }
	case 1:
		return fmt.Sprintf("*/%d", step), func(v int) bool { return (v-low)%step == 0 }
	case 2:
		return fmt.Sprintf("%d-%d", a, b), func(v int) bool { return v >= a && v <= b }
	case 3:
		return fmt.Sprintf("%d-%d/%d", a, b, step), func(v int) bool { return v >= a && v <= b && (v-a)%step == 0 }
	case 4:
		return fmt.Sprintf("%d/%d", a, step), func(v int) bool { return v >= a && (v-a)%step == 0 }
	}
	return strconv.Itoa(a), func(v int) bool { return v == a }
}

func plainField(r *rand.Rand, low, high, hint int) (text string, match func(int) bool) {
	match = not
	for range 1 + r.IntN(3)*r.IntN(2) {
		part, matches := plainPart(r, low, high, hint)
		before := match
		match = func(v int) bool { return before(v) || matches(v) }
		text += "," + part
	}
	return text[1:], match
}

// make makes an expression whose times are often around a hint on the wall.
func makeExpr(r *rand.Rand, wall int64, seconds, anyDay bool) *made {
	m := &made{}
	var texts [5]string
	hint := time.Unix(wall, 0).UTC()
	texts[0], m.clock[1] = plainField(r, 0, 59, hint.Minute())
	texts[1], m.clock[0] = plainField(r, 0, 23, hint.Hour())
	m.interval = texts[0][0] == '*' || texts[1][0] == '*'
	texts[3], m.month = "*", func(int) bool { return true }
	if r.IntN(4) == 0 {
		texts[3], m.month = plainField(r, 1, 12, int(hint.Month()))
	}
	texts[2], texts[4], m.day = "*", "*", func(time.Time) bool { return true }
	if !anyDay || r.IntN(4) == 0 {
		texts[2], texts[4], m.day = makeDays(r)
	}
	m.clock[2] = func(v int) bool { return v == 0 }
	m.expr = strings.Join(texts[:], " ")
	if seconds {
		var text string
		text, m.clock[2] = plainField(r, 0, 59, hint.Second())
		m.expr = text + " " + m.expr
	}
	return m
}

func makeDays(r *rand.Rand) (month, week string, match func(time.Time) bool) {
	byMonth, byWeek := func(time.Time) bool { return false }, func(time.Time) bool { return false }
	for range 1 + r.IntN(3)*r.IntN(2) {
		part, matches := monthPart(r)
		before := byMonth
		byMonth = func(t time.Time) bool { return before(t) || matches(t) }
		month += "," + part
	}
	for range 1 + r.IntN(3)*r.IntN(2) {
		part, matches := weekPart(r)
		before := byWeek
		byWeek = func(t time.Time) bool { return before(t) || matches(t) }
		week += "," + part
	}
	month, week = month[1:], week[1:]
	return month, week, func(t time.Time) bool {
		if month[0] == '*' || week[0] == '*' {
			return byMonth(t) && byWeek(t)
		}
		return byMonth(t) || byWeek(t)
	}
}

func isWork(t time.Time) bool {
	return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday
}

// nearest tells whether t is the weekday nearest to a day of its month.
func nearest(t time.Time, day int) bool {
	best := 0
	for d := 1; d <= 31; d++ {
		at := time.Date(t.Year(), t.Month(), d, 0, 0, 0, 0, time.UTC)
		if at.Month() == t.Month() && isWork(at) && (best == 0 || abs(d-day) < abs(best-day)) {
			best = d
		}
	}
	exists := time.Date(t.Year(), t.Month(), day, 0, 0, 0, 0, time.UTC).Month() == t.Month()
	return exists && best == t.Day()
}

func abs(n int) int { return max(n, -n) }

func monthPart(r *rand.Rand) (string, func(time.Time) bool) {
	n := 1 + r.IntN(31)
	switch r.IntN(10) {
	case 0:
		return "L", func(t time.Time) bool { return t.AddDate(0, 0, 1).Day() == 1 }
	case 1:
		n = min(n, 30)
		return fmt.Sprintf("L-%d", n), func(t time.Time) bool {
			return t.AddDate(0, 0, n+1).Day() == 1 && t.AddDate(0, 0, n).Month() == t.Month()
		}
	case 2:
		return fmt.Sprintf("%dW", n), func(t time.Time) bool { return nearest(t, n) }
	case 3:
		return "lw", func(t time.Time) bool {
			return nearest(t, time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day())
		}
	}
	text, match := plainPart(r, 1, 31, n)
	return text, func(t time.Time) bool { return match(t.Day()) }
}

func weekPart(r *rand.Rand) (string, func(time.Time) bool) {
	wd, n := r.IntN(8), 1+r.IntN(5)
	name := strconv.Itoa(wd)
	if r.IntN(2) == 0 {
		name = []string{"Sun", "MON", "tue", "WED", "THU", "FRI", "SAT", "SUN"}[wd]
	}
	is := func(t time.Time) bool { return int(t.Weekday()) == wd%7 }
	switch r.IntN(10) {
	case 0:
		return name + "L", func(t time.Time) bool { return is(t) && t.AddDate(0, 0, 7).Month() != t.Month() }
	case 1:
		return fmt.Sprintf("%s#%d", name, n), func(t time.Time) bool { return is(t) && (t.Day()+6)/7 == n }
	case 2, 3:
		return name, is
	case 4: // a range up to Sunday
		return fmt.Sprintf("%d-7", wd), func(t time.Time) bool { return (int(t.Weekday())+6)%7+1 >= wd }
	}
	text, match := plainPart(r, 0, 6, wd)
	return text, func(t time.Time) bool { return match(int(t.Weekday())) }
}

// transitions returns when the offset of a zone changes.
func transitions(zone *time.Location) []time.Time {
	var found []time.Time
	end := time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC)
	for t := time.Date(1840, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); ; {
		_, next := t.ZoneBounds()
		if next.IsZero() || next.After(end) {
			return found
		}
		if !next.After(t) {
			next = t.Add(24 * time.Hour)
		}
		_, a := next.Add(-1).Zone()
		if _, b := next.Zone(); a != b {
			found = append(found, next)
		}
		t = next
	}
}

// window is what the wall shows around an instant, step by step.
type window struct {
	start, step int64
	walls       []int64
}

func newWindow(zone *time.Location, around time.Time, step int64) *window {
	w := &window{start: around.Unix() - 30*3600, step: step}
	for u := w.start; u < w.start+60*3600; u += step {
		_, offset := time.Unix(u, 0).In(zone).Zone()
		w.walls = append(w.walls, u+int64(offset))
	}
	return w
}

// fires tries every time there is and returns what D-81 says in its own words.
func (w *window) fires(m *made) []int64 {
	var times []int64
	if m.interval {
		for i, wall := range w.walls {
			if m.matches(wall) {
				times = append(times, w.start+int64(i)*w.step)
			}
		}
		return times
	}
	low, high := slices.Min(w.walls), slices.Max(w.walls)
	shown := make([]int64, (high-low)/w.step+1) // when each was shown first
	for i := len(w.walls) - 1; i >= 0; i-- {
		shown[(w.walls[i]-low)/w.step] = w.start + int64(i)*w.step
	}
	for i := 1; i < len(w.walls); i++ {
		for wall := w.walls[i-1] + w.step; wall < w.walls[i]; wall += w.step {
			if at := &shown[(wall-low)/w.step]; *at == 0 { // does not exist
				*at = w.start + int64(i)*w.step
			}
		}
	}
	for i, at := range shown {
		if m.matches(low + int64(i)*w.step) {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// check compares Next with the oracle in the middle of the window.
func (w *window) check(t *testing.T, zone *time.Location, m *made, r *rand.Rand) {
	t.Helper()
	s, err := cron.Parse(m.expr)
	if err != nil {
		return // never fires: TestDays looks after that
	}
	times := w.fires(m)
	from, to := w.start+26*3600, w.start+34*3600
	if w.step == 1 {
		from = to - 7*3600
	}
	for u := from; u < to; {
		got, ok := w.checkAfter(t, zone, s, times, time.Unix(u, r.Int64N(1e9)))
		if !ok {
			break
		}
		u = got
	}
	for range 20 { // times in the middle of an overlap, for one
		w.checkAfter(t, zone, s, times, time.Unix(from+r.Int64N(to-from), r.Int64N(1e9)))
	}
}

// checkAfter compares one answer. It returns false when nothing was expected in
// the window.
func (w *window) checkAfter(t *testing.T, zone *time.Location, s *cron.Schedule, times []int64, after time.Time) (int64, bool) {
	t.Helper()
	got, ok := s.Next(after, zone)
	i, _ := slices.BinarySearch(times, after.Unix()+1)
	if i == len(times) {
		if end := w.start + int64(len(w.walls))*w.step; ok && got.Unix() < end {
			t.Errorf("%s in %v after %v: %v, want none before %v", s.Describe(), zone, after.In(zone), got, time.Unix(end, 0).In(zone))
		}
		return 0, false
	}
	if !ok || got.Unix() != times[i] || got.Nanosecond() != 0 {
		t.Errorf("%s in %v after %v: %v, %v, want %v", s.Describe(), zone, after.In(zone), got, ok, time.Unix(times[i], 0).In(zone))
	}
	return times[i], true
}

// zones returns all zones that differ.
func zones(t testing.TB) (all []*time.Location, changes [][]time.Time) {
	known := map[string]bool{}
	for _, name := range strings.Fields(zoneNames) {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		found := transitions(zone)
		key := ""
		for _, at := range found {
			_, offset := at.Zone()
			key += fmt.Sprintln(at.Unix(), offset)
		}
		if !known[key] {
			known[key] = true
			all = append(all, zone)
			changes = append(changes, found)
		}
	}
	return all, changes
}

// All zones, some of their transitions each time, random expressions.
//
// D-81
func TestNextEqualsBruteForce(t *testing.T) {
	r, long := rng(t)
	all, changes := zones(t)
	t.Logf("%d different zones", len(all))
	rounds, slow := 1, 20
	if long {
		rounds, slow = 50, 1
	}
	checked := 0
	for i, zone := range all {
		for range rounds {
			around := time.Date(1950+r.IntN(150), 12, 31, r.IntN(24), 0, 0, 0, time.UTC)
			if n := len(changes[i]); n > 0 && r.IntN(10) > 0 {
				around = changes[i][r.IntN(n)]
			}
			step := stepFor(zone, around)
			if step == 1 && r.IntN(slow) > 0 {
				continue
			}
			w := newWindow(zone, around, step)
			for range 3 {
				hint := w.walls[r.IntN(len(w.walls)/5)+len(w.walls)*2/5]
				w.check(t, zone, makeExpr(r, hint, step == 1, true), r)
				checked++
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d windows", checked)
}

// stepFor returns 60 where everything happens at whole minutes.
func stepFor(zone *time.Location, around time.Time) int64 {
	_, a := around.Add(-31 * time.Hour).In(zone).Zone()
	_, b := around.Add(31 * time.Hour).In(zone).Zone()
	if a%60 == 0 && b%60 == 0 && around.Unix()%60 == 0 {
		return 60
	}
	return 1
}

// Days of all kinds, one by one over decades; and what none of them matches is
// refused by Parse.
//
// D-80
func TestDays(t *testing.T) {
	r, long := rng(t)
	rounds := 1000
	if long {
		rounds = 20_000
	}
	refused := 0
	for range rounds {
		m := makeExpr(r, r.Int64N(1e9), r.IntN(2) == 0, false)
		m.interval = false
		day := time.Date(1890+r.IntN(320), time.Month(1+r.IntN(12)), 1+r.IntN(31), 0, 0, 0, 0, time.UTC)
		want := day
		for want.Before(day.AddDate(49, 0, 0)) && !(m.month(int(want.Month())) && m.day(want)) {
			want = want.AddDate(0, 0, 1)
		}
		s, err := cron.Parse(m.expr)
		if !want.Before(day.AddDate(49, 0, 0)) {
			if refused++; err == nil {
				t.Fatalf("%q never fires and was accepted", m.expr)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", m.expr, err)
		}
		got, ok := s.Next(day.Add(-1), nil)
		if year, month, date := got.Date(); !ok || time.Date(year, month, date, 0, 0, 0, 0, time.UTC) != want {
			t.Fatalf("%q after %v: %v, %v, want %v", m.expr, day, got, ok, want)
		}
		if !m.matches(got.Unix()) {
			t.Fatalf("%q after %v: %v does not match", m.expr, day, got)
		}
	}
	t.Logf("%d of %d were refused", refused, rounds)
}
