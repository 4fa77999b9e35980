package cron_test

import (
	"testing"

	"github.com/bravellian/pawl/cron"
)

// D-80
func TestDescribe(t *testing.T) {
	for expr, want := range map[string]string{
		"0 2 * * MON-FRI":     "at 02:00 on weekdays",
		"*/5 * * * *":         "every 5 minutes",
		"* * * * *":           "every minute",
		"* * * * * *":         "every second",
		"*/10 * * * * *":      "every 10 seconds",
		"30 * * * * *":        "at second 30 of every minute",
		"15 */5 * * * *":      "at second 15 of every minute, every 5 minutes",
		"7-59/10 * * * *":     "at minutes 7, 17, 27, 37, 47 and 57 of every hour",
		"*/7 * * * *":         "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour",
		"30 * * * *":          "at minute 30 of every hour",
		"0 * * * *":           "every hour",
		"0 */2 * * *":         "every 2 hours",
		"30 */2 * * *":        "at minute 30 of every second hour",
		"*/5 9-17 * * 1-5":    "every 5 minutes from 09:00 through 17:55 on weekdays",
		"0 9-17 * * *":        "every hour from 09:00 through 17:00",
		"* 1,3,5 * * *":       "every minute of the hours 1, 3 and 5",
		"0 0 * * *":           "at 00:00 every day",
		"0,30 2,14 * * *":     "at 02:00, 02:30, 14:00 and 14:30 every day",
		"30 0 2 * * 0,6":      "at 02:00:30 on weekends",
		"0 0 13 * FRI":        "at 00:00 on day 13 of the month or on Friday",
		"0 0 */2 * MON":       "at 00:00 on days 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 and 31 of the month, but only on Monday",
		"0 0 1-31 * MON":      "at 00:00 every day",
		"0 0 1 1 *":           "at 00:00 on day 1 of the month in January",
		"0 0 1,15-20 * *":     "at 00:00 on days 1 and 15 through 20 of the month",
		"0 0 L,15W * *":       "at 00:00 on the weekday nearest to day 15 and the last day of the month",
		"0 0 L-1,L-3,LW * *":  "at 00:00 on 1 day before the last, 3 days before the last and the last weekday of the month",
		"0 0 * * 5L":          "at 00:00 on the last Friday of the month",
		"0 0 * * MON#1,MON#3": "at 00:00 on the first Monday and the third Monday of the month",
		"0 0 * * FRI-SUN":     "at 00:00 on Friday through Sunday",
		"0 0 * 3-5,12 SUN":    "at 00:00 on Sunday in March through May and December",
		"*/10 0 2 * * *":      "every 10 seconds, at minute 0 of hour 2",
		"* 2 * * *":           "every minute from 02:00 through 02:59",
		"*/10 * 9-17 * * *":   "every 10 seconds from 09:00 through 17:59",
		"5 * 9,11 * * *":      "at second 5 of every minute of the hours 9 and 11",
		"0 0 * * SAT#3,1-5":   "at 00:00 on weekdays and the third Saturday of the month",
		"@weekly":             "at 00:00 on Sunday",
		"@hourly":             "every hour",
		"@every 90s":          "every 1 minute and 30 seconds",
		"@every 1h":           "every hour",
		"@every 1h1s":         "every 1 hour and 1 second",
		"@every 1.5s":         "every 1.5s",
	} {
		s, err := cron.Parse(expr)
		if err != nil {
			t.Errorf("%q: %v", expr, err)
			continue
		}
		if got := s.Describe(); got != want {
			t.Errorf("%q:\n got %s\nwant %s", expr, got, want)
		}
	}
	if got := new(cron.Schedule).Describe(); got != "never" {
		t.Errorf("the zero schedule: %s", got)
	}
}
