package cron

import (
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/limits"
)

// ParseError says where an expression was refused and why.
type ParseError struct {
	Field  string // such as "day of month", or "" where it is no field's fault
	Pos    int    // how many bytes of the expression are before the fault
	Reason string
}

// Error names the field, the reason and the position, and quotes nothing.
func (e *ParseError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("invalid cron expression: %s (at byte %d)", e.Reason, e.Pos)
	}
	return fmt.Sprintf("invalid cron expression: %s: %s (at byte %d)", e.Field, e.Reason, e.Pos)
}

func fault(field string, pos int, format string, args ...any) error {
	return &ParseError{Field: field, Pos: pos, Reason: fmt.Sprintf(format, args...)}
}

// Parse reads an expression. Every expression that it accepts fires: what never
// can, such as 30 February, is refused here and not when nobody looks (D-80).
func Parse(expr string) (*Schedule, error) {
	if len(expr) > limits.Schedule {
		return nil, fault("", limits.Schedule, "longer than %d bytes", limits.Schedule)
	}
	s := &Schedule{expr: expr}
	if err := s.parse(split(expr)); err != nil {
		return nil, err
	}
	return s, nil
}

// A word is a piece of the expression that has no blanks in it.
type word struct {
	text string
	pos  int // in the expression
}

func split(expr string) []word {
	var words []word
	start := -1
	for i := range len(expr) + 1 {
		blank := i == len(expr) || expr[i] == ' ' || expr[i] == '\t'
		switch {
		case !blank && start < 0:
			start = i
		case blank && start >= 0:
			words = append(words, word{expr[start:i], start})
			start = -1
		}
	}
	return words
}

func (s *Schedule) parse(words []word) error {
	if len(words) == 0 {
		return fault("", 0, "empty")
	}
	first := strings.ToUpper(words[0].text)
	switch {
	case first == "@EVERY":
		return s.parseEvery(words)
	case first[0] == '@':
		return s.parseMacro(first, words)
	case strings.HasPrefix(first, "TZ="), strings.HasPrefix(first, "CRON_TZ="):
		return fault("", words[0].pos, "a zone is no part of the expression")
	}
	return s.parseFields(words)
}

func (s *Schedule) parseEvery(words []word) error {
	switch {
	case len(words) < 2:
		return fault("@every", len(s.expr), "a duration such as 90s or 1h30m is missing")
	case len(words) > 2:
		return fault("@every", words[2].pos, "nothing may follow the duration")
	}
	d, err := time.ParseDuration(words[1].text)
	switch {
	case err != nil:
		return fault("@every", words[1].pos, "not a duration such as 90s or 1h30m")
	case d < minEvery:
		return fault("@every", words[1].pos, "shorter than %v", minEvery)
	}
	s.every = d
	return nil
}

func (s *Schedule) parseMacro(name string, words []word) error {
	fields := ""
	switch name {
	case "@YEARLY", "@ANNUALLY":
		fields = "0 0 1 1 *"
	case "@MONTHLY":
		fields = "0 0 1 * *"
	case "@WEEKLY":
		fields = "0 0 * * 0"
	case "@DAILY", "@MIDNIGHT":
		fields = "0 0 * * *"
	case "@HOURLY":
		fields = "0 * * * *"
	default:
		return fault("", words[0].pos, "unknown macro")
	}
	if len(words) > 1 {
		return fault("", words[1].pos, "nothing may follow a macro")
	}
	return s.parseFields(split(fields))
}

func (s *Schedule) parseFields(words []word) error {
	switch n := len(words); {
	case n < 5:
		return fault("", len(s.expr), "5 or 6 fields wanted, %d found", n)
	case n > 6:
		return fault("", words[6].pos, "5 or 6 fields wanted, %d found", n)
	case n == 5:
		s.second = 1
	default:
		var err error
		if s.second, err = parseSet(words[0], field{name: "second", max: 59}); err != nil {
			return err
		}
		words = words[1:]
	}
	if err := s.parseMinuteToWeek(words); err != nil {
		return err
	}
	s.interval = words[0].text[0] == '*' || words[1].text[0] == '*'

	// The calendar repeats itself every 28 years while no century interferes.
	from := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	if _, ok := s.nominal(from, from+28*366*daySeconds); !ok {
		return fault("day of month", words[2].pos, "no year has such a day")
	}
	return nil
}

func (s *Schedule) parseMinuteToWeek(words []word) error {
	var errs [5]error
	s.minute, errs[0] = parseSet(words[0], field{name: "minute", max: 59})
	s.hour, errs[1] = parseSet(words[1], field{name: "hour", max: 23})
	errs[2] = s.days.parseMonthDays(words[2])
	s.month, errs[3] = parseSet(words[3], field{name: "month", min: 1, max: 12, names: monthNames})
	errs[4] = s.days.parseWeekdays(words[4])
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	// Vixie's rule, by the first character and not by the values: */2 and MON
	// have to match both (D-80).
	s.days.either = words[2].text[0] != '*' && words[4].text[0] != '*'
	return nil
}
