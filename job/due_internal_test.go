package job

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
)

func parsed(t *testing.T, expr string) *cron.Schedule {
	t.Helper()
	s, err := cron.Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// enumerate is what look should know, found without cleverness.
func enumerate(s *cron.Schedule, zone *time.Location, first, now time.Time) (due []time.Time, next time.Time, ends bool) {
	t, ok := first, true
	for ; ok && !t.After(now); t, ok = s.Next(t, zone) {
		due = append(due, t)
	}
	return due, t, !ok
}

// D-83: what is due is what a walk from time to time finds, its latest kept.
func TestLook(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, expr := range []string{
		"* * * * * *", "*/7 * * * * *", "0 * * * *", "30 2 * * *", "*/15 * * * *", "0 0 29 2 *", "0 0 L * *", "@every 90s", "@every 1.000001s", "15,45 1-3 * * SUN",
	} {
		s := parsed(t, expr)
		for _, name := range []string{"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo"} {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				start := time.Date(2025, time.Month(1+rnd.IntN(12)), 1+rnd.IntN(28), rnd.IntN(24), rnd.IntN(60), rnd.IntN(60), 123456000, time.UTC)
				first, _ := s.Next(start, zone)
				for _, d := range []time.Duration{0, time.Second, time.Minute, time.Hour + time.Millisecond} {
					compare(t, s, zone, first, first.Add(d), 1+rnd.IntN(12))
				}
				if expr == "30 2 * * *" && name != "UTC" {
					compare(t, s, zone, first, first.Add(2*365*24*time.Hour), 1000)
				}
			}
		}
	}
}

func compare(t *testing.T, s *cron.Schedule, zone *time.Location, first, now time.Time, keep int) {
	t.Helper()
	due, next, ends := enumerate(s, zone, first, now)
	got := overdueTimes(s, zone, first, now, keep)
	latest := due[len(due)-min(keep, len(due)):]
	if !got.first.Equal(first) || got.count != int64(len(due)) || !slices.EqualFunc(got.latest, latest, time.Time.Equal) || !got.next.Equal(next) || got.ends != ends {
		t.Fatalf("%v from %v to %v: %d due, next %v; want %d, %v", s, first, now, got.count, got.next, len(due), next)
	}
}

// D-83: nothing is due before its time.
func TestLookEarly(t *testing.T) {
	t.Parallel()
	first := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	if o := overdueTimes(parsed(t, "@daily"), time.UTC, first, first.Add(-1), 3); o.count != 0 || !o.next.Equal(first) || o.ends {
		t.Fatalf("%+v", o)
	}
}

// D-83: of more times than are counted the latest are right, and so is the next:
// those between are at most miscounted.
func TestLookLeaps(t *testing.T) {
	t.Parallel()
	first := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		expr string
		d    time.Duration
		keep int
	}{
		{"* * * * * *", 365*24*time.Hour + 1, 1000},
		{"* * * * * *", (maxCount - 1) * time.Second, 7},
		{"* * * * * *", maxCount * time.Second, 7},
		{"* * * * * *", (maxCount + 3) * time.Second, 1000},
		{"* * * * * *", (maxCount+3)*time.Second + 999*time.Millisecond, 1000},
		{"@every 7s", (maxCount*7 + 20) * time.Second, 1000},
		{"@every 1.000001s", 365 * 24 * time.Hour, 3},
		{"* * * * *", 20 * 365 * 24 * time.Hour, 1000},
		{"* * 1 * *", 20 * 365 * 24 * time.Hour, 1000}, // none near now
	} {
		s := parsed(t, c.expr)
		now := first.Add(c.d)
		got := overdueTimes(s, time.UTC, first, now, c.keep)
		// The walk begins a little before what is kept, at a time of the schedule.
		var since time.Time
		if every := s.Every(access.Key{}); every > 0 {
			d := now.Sub(first) - 2000*every
			since = first.Add(d - d%every)
		} else if c.expr == "* * 1 * *" {
			since, _ = s.Next(now.AddDate(0, -3, 0), time.UTC)
		} else {
			since, _ = s.Next(now.Add(-50*time.Hour), time.UTC)
			if c.expr == "* * * * * *" {
				since, _ = s.Next(now.Add(-time.Hour), time.UTC)
			}
		}
		due, next, ends := enumerate(s, time.UTC, since, now)
		latest := due[len(due)-min(c.keep, len(due)):]
		if !slices.EqualFunc(got.latest, latest, time.Time.Equal) || !got.next.Equal(next) || got.ends != ends {
			t.Errorf("%s after %v: %d from %v to %v, next %v; want %d from %v, next %v", c.expr, c.d,
				len(got.latest), got.latest[0], got.latest[len(got.latest)-1], got.next, len(latest), latest[0], next)
		}
		if got.count < min(maxCount, int64(c.d/time.Second)) && c.expr == "* * * * * *" {
			t.Errorf("%s after %v: counted %d", c.expr, c.d, got.count)
		}
		if c.expr == "* * * * * *" && c.d <= (maxCount+3)*time.Second+time.Second && got.count != int64(c.d/time.Second)+1 {
			t.Errorf("%s after %v: counted %d", c.expr, c.d, got.count)
		}
	}
}

// D-85: a first time that is corrupt costs moments, wherever it is: the next is as
// it should be.
func TestLookFromAnywhere(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, first := range []time.Time{time.UnixMicro(math.MinInt64).UTC(), time.Unix(0, 0).UTC()} {
		for _, expr := range []string{"* * * * * *", "15 * * * *", "@yearly", "@every 1s", "@every 8760h", "@every 2562047h"} {
			s := parsed(t, expr)
			o := overdueTimes(s, time.UTC, first, now, limits.Misfires)
			if !o.next.After(now) || o.ends || o.count == 0 || len(o.latest) == 0 || o.latest[len(o.latest)-1].After(now) {
				t.Errorf("%s from %v: %d, next %v", expr, first, o.count, o.next)
			}
			if s.Every(access.Key{}) == 0 {
				if next, _ := s.Next(now, time.UTC); !o.next.Equal(next) {
					t.Errorf("%s from %v: next %v, want %v", expr, first, o.next, next)
				}
			}
		}
	}
}

// D-83: a schedule that ends makes what is due, and has no next.
func TestLookEnds(t *testing.T) {
	t.Parallel()
	first := time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC)
	o := overdueTimes(parsed(t, "@daily"), time.UTC, first, first.Add(24*time.Hour), 5)
	if o.count != 2 || !o.ends || len(o.latest) != 2 {
		t.Fatalf("%+v", o)
	}
	o = overdueTimes(parsed(t, "* * * * * *"), time.UTC, first, first.AddDate(5, 0, 0), 5)
	if last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC); !o.ends || len(o.latest) != 5 || !o.latest[4].Equal(last) || o.count < maxCount {
		t.Fatalf("%+v", o)
	}
}

// D-83: what is decided makes up what was due, whatever the policy.
func TestDecide(t *testing.T) {
	t.Parallel()
	first := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	s := parsed(t, "0 * * * *")
	for n := 1; n <= 12; n++ {
		for _, late := range []time.Duration{0, misfireGrace, misfireGrace + 1, 59 * time.Minute} {
			for _, shift := range []time.Duration{0, 3 * time.Hour} {
				for _, limit := range []int{1, 5, 12, 1000} {
					last := first.Add(time.Duration(n-1) * time.Hour)
					now := last.Add(shift + late)
					o := overdueTimes(s, time.UTC, first, now.Add(-shift), limit)
					inTime := 0
					if late <= misfireGrace {
						inTime = 1
					}
					for policy, runs := range map[Misfire]int{RunOnce: 1, RunNone: inTime, RunAll: min(n, limit), Misfire("unknown 9"): 1} {
						insist(t, o.decide(policy, limit, shift, now), first, n, runs)
					}
				}
			}
		}
	}
}

// insist insists on so many runs of the latest of n hours, the others being missed.
func insist(t *testing.T, got []outcome, first time.Time, n, runs int) {
	t.Helper()
	var want []outcome
	if n > runs {
		want = append(want, outcome{first, int64(n - runs)})
	}
	for i := n - runs; i < n; i++ {
		want = append(want, outcome{nominal: first.Add(time.Duration(i) * time.Hour)})
	}
	if !slices.EqualFunc(got, want, func(a, b outcome) bool { return a.nominal.Equal(b.nominal) && a.missed == b.missed }) {
		t.Fatalf("of %d times %v, want %v", n, got, want)
	}
}

// D-85: words for what is stored, also for what nobody stores.
func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		op.Misfires().Word(0): string(RunOnce), op.Misfires().Word(1): string(RunNone), op.Misfires().Word(2): string(RunAll), op.Misfires().Word(-1): "unknown -1",
		op.Overlaps().Word(0): string(Allow), op.Overlaps().Word(1): string(Skip), op.Overlaps().Word(2): "unknown 2",
		op.RunStatuses().Word(0): string(Pending), op.RunStatuses().Word(1): string(Running), op.RunStatuses().Word(2): string(Succeeded), op.RunStatuses().Word(3): string(Failed),
		op.RunStatuses().Word(4): string(Cancelled), op.RunStatuses().Word(5): string(Skipped), op.RunStatuses().Word(6): string(Missed), string(statusOf(nil)): string(Unknown),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
