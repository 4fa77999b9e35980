package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/cron"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/job"
)

// jobsNextCmd is "pawl jobs next".
type jobsNextCmd struct {
	Schedule string `arg:"" name:"expr" help:"Cron expression, as one argument."`
	Zone     string `short:"z" placeholder:"ZONE" help:"Whose clocks it follows, such as Europe/Berlin. Default: UTC."`
	Limit    int    `short:"n" default:"5" placeholder:"N" help:"How many times, at most 10000. Default: ${default}."`
	After    ahead  `default:"now" placeholder:"WHEN" help:"Only times after one (2030-01-31T12:00:00Z), or after a duration (2d). Default: ${default}."`
}

// Help is printed by --help.
func (*jobsNextCmd) Help() string {
	return `An expression has five fields, minute, hour, day of month, month and day of week,
or six with the second first. It may also be @yearly, @monthly, @weekly, @daily,
@hourly, or @every with a duration.

    */5      every fifth        1-5      a range      MON,THU   a list
    L        last of the month  LW       its last weekday
    5L       its last Friday    5#3      its third Friday

Examples:

    pawl jobs next '30 2 * * *' --zone Europe/Berlin
    pawl jobs next '@every 90s' -n 3
    pawl jobs next '0 0 L * *' --after 2030-01-01T00:00:00Z`
}

// Run explains a schedule.
func (c *jobsNextCmd) Run(a *app, g *options) error {
	if err := (limitFlag{c.Limit}).checkLimit(); err != nil {
		return err
	}
	words, times, err := explainSchedule(c.Schedule, c.Zone, c.After.at, c.Limit)
	if err != nil {
		return err
	}
	zone := cmp.Or(c.Zone, "UTC")
	if g.JSON {
		return a.printJSON(struct {
			Schedule string      `json:"schedule"`
			Zone     string      `json:"zone"`
			Words    string      `json:"words"`
			Next     []time.Time `json:"next"`
		}{c.Schedule, zone, words, times})
	}
	if _, err := fmt.Fprintf(a.stdout, "%s, in %s\n\n", terminal.Clean(words), terminal.Clean(zone)); err != nil {
		return err
	}
	return printTimes(a, times, zone)
}

// printTimes prints times as the zone's clocks show them, and in UTC.
func printTimes(a *app, times []time.Time, zone string) error {
	var t terminal.Table
	for _, at := range times {
		if zone == "UTC" {
			t.Row(at.Format("Mon"), stamp(at))
			continue
		}
		t.Row(at.Format("Mon 2006-01-02 15:04:05 MST"), stamp(at))
	}
	return t.Write(a.stdout, terminal.Width(a.stdout))
}

// explainSchedule is job.Explain for schedules that a command line has.
func explainSchedule(expr, zone string, after time.Time, n int) (words string, times []time.Time, err error) {
	if words, times, err = job.Explain(expr, zone, after, n); err != nil {
		return "", nil, &usageError{&scheduleError{expr, err}}
	}
	return words, times, nil
}

// scheduleError is a mistake in a schedule or its zone.
type scheduleError struct {
	schedule string
	err      error
}

// Error names the field; that it is invalid goes without saying.
func (e *scheduleError) Error() string {
	var field pawl.InvalidError
	if errors.As(e.err, &field) {
		return field.Field() + ": " + field.Reason()
	}
	return e.err.Error()
}

func (e *scheduleError) Unwrap() error { return e.err }

// picture shows the schedule with a mark below the place that is wrong, if that
// is known and not far away.
func (e *scheduleError) picture() string {
	var at *cron.ParseError
	if !errors.As(e.err, &at) || len(e.schedule) > limits.Schedule {
		return ""
	}
	before := terminal.Clean(e.schedule[:min(at.Pos, len(e.schedule))])
	return fmt.Sprintf("    %s\n    %s^\n", terminal.Clean(e.schedule), strings.Repeat(" ", utf8.RuneCountInString(before)))
}
