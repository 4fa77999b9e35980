package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/cron"
)

// What is refused, and where the fault is.
//
// D-80
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		expr, field string
		pos         int
		reason      string // a piece of it
	}{
		{"", "", 0, "empty"},
		{" \t ", "", 0, "empty"},
		{"* * * *", "", 7, "4 found"},
		{"* * * * * * *", "", 12, "7 found"},
		{"0 0 12 * * ? 2026", "", 13, "7 found"},
		{strings.Repeat(" ", 248) + "* * * * *", "", 256, "256 bytes"},
		{strings.Repeat("0,", 5000) + "0 * * * *", "", 256, "256 bytes"},

		{"TZ=UTC * * * * *", "", 0, "zone"},
		{"TZ=", "", 0, "zone"},
		{" CRON_TZ=Europe/Berlin 0 0 * * *", "", 1, "zone"},
		{"@reboot", "", 0, "unknown macro"},
		{"@", "", 0, "unknown macro"},
		{" @daily 5", "", 8, "nothing may follow"},
		{"@every", "@every", 6, "missing"},
		{"@every 0s", "@every", 7, "shorter than 1s"},
		{"@every 999ms", "@every", 7, "shorter than 1s"},
		{"@every -1h", "@every", 7, "shorter than 1s"},
		{"@every 1d", "@every", 7, "not a duration"},
		{"@every 5", "@every", 7, "not a duration"},
		{"@every 9999999999h", "@every", 7, "not a duration"},
		{"@every 1h 5m", "@every", 10, "nothing may follow"},

		{"60 * * * *", "minute", 0, "not within 0-59"},
		{"* 24 * * *", "hour", 2, "not within 0-23"},
		{"* * 0 * *", "day of month", 4, "not within 1-31"},
		{"* * 32 * *", "day of month", 4, "not within 1-31"},
		{"* * * 0 *", "month", 6, "not within 1-12"},
		{"* * * 13 *", "month", 6, "not within 1-12"},
		{"* * * * 8", "day of week", 8, "not within 0-7"},
		{"60 * * * * *", "second", 0, "not within 0-59"},
		{"* 1,2,99999999999999999999 * * *", "hour", 6, "not within 0-23"},
		{"-1 * * * *", "minute", 0, "a number is wanted"},
		{"+1 * * * *", "minute", 0, "a number is wanted"},
		{"1.5 * * * *", "minute", 1, "unexpected character"},
		{"a * * * *", "minute", 0, "a number is wanted"},
		{"* * * FOO *", "month", 6, "a number or a three-letter name"},
		{"* * * JANUARY *", "month", 9, "unexpected character"},
		{"* * * JA *", "month", 6, "a number or a three-letter name"},
		{"* * * MON *", "month", 6, "a number or a three-letter name"},
		{"* * * * *\n", "day of week", 9, "unexpected character"},
		{"* * * * \x00", "day of week", 8, "a number or"},
		{"* * * * \u0661", "day of week", 8, "a number or"},
		{"** * * * *", "minute", 1, "unexpected character"},
		{"0 0 ? * MON", "day of month", 4, "a number is wanted"},

		{", * * * *", "minute", 0, "empty part"},
		{"1,,2 * * * *", "minute", 2, "empty part"},
		{"1, * * * *", "minute", 2, "empty part"},
		{"* ,1 * * *", "hour", 2, "empty part"},
		{"1- * * * *", "minute", 2, "a number is wanted"},
		{"1-2-3 * * * *", "minute", 3, "unexpected character"},
		{"*-5 * * * *", "minute", 1, "unexpected character"},
		{"1-* * * * *", "minute", 2, "a number is wanted"},

		{"30-10 * * * *", "minute", 3, "backwards"},
		{"* 22-2 * * *", "hour", 5, "backwards"},
		{"* * 25-5 * *", "day of month", 7, "backwards"},
		{"* * * NOV-FEB *", "month", 10, "backwards"},
		{"* * * * FRI-MON", "day of week", 12, "backwards"},
		{"* * * * 6-0", "day of week", 10, "backwards"},
		{"* * * * 7-1", "day of week", 10, "backwards"},

		{"*/0 * * * *", "minute", 2, "not within 1-60"},
		{"*/61 * * * *", "minute", 2, "not within 1-60"},
		{"*/90 * * * *", "minute", 2, "not within 1-60"},
		{"* */25 * * *", "hour", 4, "not within 1-24"},
		{"* * */32 * *", "day of month", 6, "not within 1-31"},
		{"* * * */13 *", "month", 8, "not within 1-12"},
		{"* * * * */8", "day of week", 10, "not within 1-7"},
		{"*/ * * * *", "minute", 2, "a number is wanted"},
		{"/5 * * * *", "minute", 0, "a number is wanted"},
		{"*/5/5 * * * *", "minute", 3, "unexpected character"},
		{"*/-5 * * * *", "minute", 2, "a number is wanted"},

		{"* * L-0 * *", "day of month", 6, "not within 1-30"},
		{"* * L-31 * *", "day of month", 6, "not within 1-30"},
		{"* * 1-L * *", "day of month", 6, "a number is wanted"},
		{"* * L/2 * *", "day of month", 5, "unexpected character"},
		{"* * W * *", "day of month", 4, "a number is wanted"},
		{"* * 32W * *", "day of month", 4, "not within 1-31"},
		{"* * 1-5W * *", "day of month", 7, "unexpected character"},
		{"* * WL * *", "day of month", 4, "a number is wanted"},
		{"* * 5L * *", "day of month", 5, "unexpected character"},
		{"* * * * L", "day of week", 8, "before the L"},
		{"* * * * 5W", "day of week", 9, "unexpected character"},
		{"* * * * 5#0", "day of week", 10, "not within 1-5"},
		{"* * * * 5#6", "day of week", 10, "not within 1-5"},
		{"* * * * 5#", "day of week", 10, "a number is wanted"},
		{"* * * * #1", "day of week", 8, "a number or"},
		{"* * * * 1-5#2", "day of week", 11, "unexpected character"},
		{"* L * * *", "hour", 2, "a number is wanted"},

		{"0 0 30 2 *", "day of month", 4, "no year has such a day"},
		{"0 0 0 31 FEB,APR,6,9,11 *", "day of month", 6, "no year has such a day"},
		{"0 0 L-29 2 *", "day of month", 4, "no year has such a day"},
		{"0 0 30W 2 *", "day of month", 4, "no year has such a day"},
		{"0 0 30 2 */2", "day of month", 4, "no year has such a day"},
		{"0 0 */31 * 1#2", "day of month", 4, "no year has such a day"},
	} {
		_, err := cron.Parse(c.expr)
		var pe *cron.ParseError
		if !errors.As(err, &pe) {
			t.Errorf("%q: %v", c.expr, err)
			continue
		}
		if pe.Field != c.field || pe.Pos != c.pos || !strings.Contains(pe.Reason, c.reason) {
			t.Errorf("%q: %q at %d: %s", c.expr, pe.Field, pe.Pos, pe.Reason)
		}
	}
}

func TestErrorText(t *testing.T) {
	_, err := cron.Parse("0 25 * * *")
	if want := "invalid cron expression: hour: not within 0-23 (at byte 2)"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = cron.Parse("@reboot")
	if want := "invalid cron expression: unknown macro (at byte 0)"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Ways of writing one thing.
//
// D-80
func TestSameMeaning(t *testing.T) {
	for _, same := range [][]string{
		{"@daily", "@midnight", "@DAILY", "0 0 * * *", "0 0 0 * * *", " 00\t00  * * * ", "0 0 * * 0-6", "0 0 1-31 * *"},
		{"@weekly", "0 0 * * 0", "0 0 * * 7", "0 0 * * SUN", "0 0 * * sun", "0 0 * * */7", "0 0 * * 0,7", "0 0 * * 7/7"},
		{"@yearly", "@annually", "0 0 1 1 *", "0 0 1 JAN *", "0 0 1 */12 *", "0 0 */31 1 *"},
		{"@monthly", "0 0 1 * *", "0 0 1 1-12 *"},
		{"@hourly", "0 * * * *", "*/60 * * * *", "0 */1 * * *"},
		{"*/15 * * * *", "0/15 * * * *", "0-59/15 * * * *", "0,15,30,45 * * * *", "0 */15 * * * *"},
		{"0 0 * * FRI-SUN", "0 0 * * 5-7", "0 0 * * 5,6,0"},
		{"0 0 * * 1-7", "0 0 * * MON-SUN", "0 0 * * *"},
		{"0 0 * * 2/2", "0 0 * * TUE,THU,SAT", "0 0 * * tue/2"},
		{"0 0 L 2 *", "0 0 l FEB */1", "0 0 L 2-2 *"},
		{"@every 90s", "@every 1m30s", "@EVERY 1.5m"},
	} {
		at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
		first, err := cron.Parse(same[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, expr := range same[1:] {
			s, err := cron.Parse(expr)
			if err != nil {
				t.Errorf("%q: %v", expr, err)
				continue
			}
			for a, i := at, 0; i < 50; i++ {
				want, _ := first.Next(a, nil)
				if got, ok := s.Next(a, nil); !ok || got != want {
					t.Errorf("%q after %v: %v, want %v", expr, a, got, want)
					break
				}
				a = want
			}
		}
	}
}

// The zone is the argument, whatever the zone of the time; nil is UTC.
func TestZoneIsTheArgument(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s, err := cron.Parse("0 12 * * *")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 7, 1, 8, 0, 0, 0, berlin)
	if got, _ := s.Next(at, nil); !got.Equal(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)) || got.Location() != time.UTC {
		t.Errorf("without a zone: %v", got)
	}
	if got, _ := s.Next(at.UTC(), berlin); !got.Equal(time.Date(2026, 7, 1, 12, 0, 0, 0, berlin)) || got.Location() != berlin {
		t.Errorf("with one: %v", got)
	}
}

// The ends of time, and schedules that have no next time.
//
// D-80
func TestNoNext(t *testing.T) {
	ny, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		expr  string
		after time.Time
		zone  *time.Location
		want  string // or "" for none
	}{
		{"@yearly", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), nil, ""},
		{"* * * * * *", time.Date(9999, 12, 31, 23, 59, 58, 0, time.UTC), nil, "9999-12-31T23:59:59Z"},
		{"* * * * * *", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), nil, ""},
		{"@every 1s", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), nil, ""},
		{"@every 1s", time.Unix(1<<62, 0), nil, ""},
		{"* * * * *", time.Unix(1<<62, 0), ny, ""},
		{"* * * * *", time.Unix(-1<<62, 0), nil, "0001-01-01T00:00:00Z"},
		{"0 0 * * *", time.Time{}, nil, "0001-01-02T00:00:00Z"},
		{"0 0 * * *", time.Time{}, ny, "0001-01-01T00:00:00-04:56"},
		// In New York, 02:00 of the second Sunday in March is always in the gap.
		{"*/5 2 8-14 3 */7", time.Date(2026, 1, 1, 0, 0, 0, 0, ny), ny, ""},
		{"5 2 8-14 3 */7", time.Date(2026, 1, 1, 0, 0, 0, 0, ny), ny, "2026-03-08T03:00:00-04:00"},
	} {
		s, err := cron.Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		got, ok := s.Next(c.after, c.zone)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q took %v", c.expr, took)
		}
		switch {
		case c.want == "" && (ok || !got.IsZero()):
			t.Errorf("%q after %v: %v, want none", c.expr, c.after, got)
		case c.want != "" && (!ok || got.Format(time.RFC3339) != c.want):
			t.Errorf("%q after %v: %v, want %v", c.expr, c.after, got, c.want)
		}
	}
	if got, ok := new(cron.Schedule).Next(time.Now(), nil); ok {
		t.Errorf("the zero schedule fires at %v", got)
	}
}
