package cron_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/bravellian/pawl/cron"
)

// An expression is read once; Next returns each of its times, Describe says it in words.
func Example() {
	schedule, err := cron.Parse("30 2 * * MON-FRI")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schedule.Describe())

	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2026, 3, 26, 12, 0, 0, 0, time.UTC)
	for range 3 {
		at, _ = schedule.Next(at, berlin)
		fmt.Println(at)
	}
	// Output:
	// at 02:30 on weekdays
	// 2026-03-27 02:30:00 +0100 CET
	// 2026-03-30 02:30:00 +0200 CEST
	// 2026-03-31 02:30:00 +0200 CEST
}

// A time that the clocks jump over is not lost: it runs right after the gap.
func ExampleSchedule_Next() {
	schedule, _ := cron.Parse("30 2 * * *")
	berlin, _ := time.LoadLocation("Europe/Berlin")
	at := time.Date(2026, 3, 27, 12, 0, 0, 0, berlin)
	for range 3 {
		at, _ = schedule.Next(at, berlin)
		fmt.Println(at)
	}
	// Output:
	// 2026-03-28 02:30:00 +0100 CET
	// 2026-03-29 03:00:00 +0200 CEST
	// 2026-03-30 02:30:00 +0200 CEST
}

// A schedule in words, for the people who check it.
func ExampleSchedule_Describe() {
	for _, expr := range []string{"*/5 9-17 * * 1-5", "0 0 L * *", "0 8 * * MON#1", "@every 90s"} {
		schedule, _ := cron.Parse(expr)
		fmt.Println(schedule.Describe())
	}
	// Output:
	// every 5 minutes from 09:00 through 17:55 on weekdays
	// at 00:00 on the last day of the month
	// at 08:00 on the first Monday of the month
	// every 1 minute and 30 seconds
}

// A refused expression names the field and the place of the mistake.
func ExampleParseError() {
	const expr = "0 25 * * *"
	_, err := cron.Parse(expr)
	var fault *cron.ParseError
	if errors.As(err, &fault) {
		fmt.Printf("%s\n%*s %s: %s\n", expr, fault.Pos+1, "^", fault.Field, fault.Reason)
	}
	// Output:
	// 0 25 * * *
	//   ^ hour: not within 0-23
}
