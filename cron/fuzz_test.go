package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/limits"
)

func seeds() []string {
	return []string{
		"* * * * *", "*/5 9-17 * * MON-FRI", "0 0 29 2 */7", "0 0 L-3,15W,LW * 5#3,FRIL", "30 2 * * *",
		"59 59 23 31 12 SUN", "@daily", "@every 90s", "TZ=UTC * * * * *", "0 0 30 2 *", "1-2-3 * * * *",
		"*/5 2 8-14 3 */7", "0 0 * * SAT-SUN", ", * * * *", "@every 2562047h47m16.854775807s", "\xff",
	}
}

// Whatever the text, Parse answers at once, with a schedule that fires or with
// a fault that lies within the text.
//
// D-80
func FuzzParse(f *testing.F) {
	for _, expr := range seeds() {
		f.Add(expr)
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	f.Fuzz(func(t *testing.T, expr string) {
		start := time.Now()
		s, err := cron.Parse(expr)
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("took %v", took)
		}
		if err != nil {
			var pe *cron.ParseError
			if !errors.As(err, &pe) || s != nil {
				t.Fatalf("%v, %v", s, err)
			}
			if pe.Pos < 0 || pe.Pos > len(expr) || pe.Reason == "" {
				t.Fatalf("fault at %d: %v", pe.Pos, err)
			}
			return
		}
		if len(expr) > limits.Schedule {
			t.Fatalf("accepted %q", expr)
		}
		again, err := cron.Parse(strings.ToLower(expr))
		if err != nil || again.Describe() != s.Describe() {
			t.Fatalf("%q: %v", expr, err)
		}
		next, ok := s.Next(at, nil)
		if second, ok2 := again.Next(at, nil); ok != ok2 || next != second {
			t.Fatalf("%v and %v", next, second)
		}
		if !strings.Contains(strings.ToUpper(expr), "@EVERY") && !ok {
			t.Fatal("never fires")
		}
		if text := s.Describe(); text == "" || strings.Contains(text, "  ") || strings.HasSuffix(text, " ") {
			t.Fatalf("described as %q", text)
		}
	})
}

// Whatever the time and the zone, Next answers soon, with a time that is
// strictly later, and no other time lies between.
//
// D-81
func FuzzNext(f *testing.F) {
	for i, expr := range seeds() {
		f.Add(expr, int64(1773000000+i*86400), uint32(i), uint16(i*37))
	}
	names := strings.Fields(zoneNames)
	f.Fuzz(func(t *testing.T, expr string, sec int64, nsec uint32, zone uint16) {
		s, err := cron.Parse(expr)
		if err != nil {
			return
		}
		loc, err := time.LoadLocation(names[int(zone)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		after := time.Unix(sec, int64(nsec%1e9))
		start := time.Now()
		next, ok := s.Next(after, loc)
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("took %v", took)
		}
		if !ok {
			return
		}
		if !next.After(after) || next.Location() != loc {
			t.Fatalf("%v after %v", next, after)
		}
		// From anywhere in between the same time is next.
		if gap := next.Unix() - after.Unix(); gap > 1 && next.Nanosecond() == 0 && after.Year() > 0 {
			between := time.Unix(after.Unix()+gap/2, 0)
			if again, ok := s.Next(between, loc); !ok || !strings.HasPrefix(expr, "@") && again != next {
				t.Fatalf("%v after %v, %v after %v", next, after, again, between)
			}
		}
	})
}
