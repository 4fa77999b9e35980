package health

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Finding is one result of a diagnosis: of a check of a process or a database, or
// something that keeps from running what an explanation is about.
type Finding struct {
	// Code is stable, for programs: the check's name, as docs/health.md and
	// docs/doctor.md list them, "database" or, of one of several, "waiting/queue/mail";
	// or the reason, as docs/explain.md lists them.
	Code string `json:"code"`
	// Level is how bad it is.
	Level Level `json:"level"`
	// Summary is for people: what was seen, one or two sentences. It holds no payload,
	// query or password.
	Summary string `json:"summary"`
	// NextStep is what helps, a command or an action in words; "" if nothing needs to be
	// done.
	NextStep string `json:"next_step,omitempty"`
	// Facts are the figures: counts, and durations in seconds.
	Facts Facts `json:"facts,omitempty"`
	// Fixable reports whether "pawl doctor --fix" repairs it.
	Fixable bool `json:"fixable,omitempty"`
}

// line returns the finding in one line, "[+]database ok: answered within 2ms": a mark,
// the code, the level, the summary and, behind an arrow, the next step.
func (f *Finding) line() string {
	line := fmt.Sprintf("%s%s %s: %s", f.Level.mark(), clean(f.Code), f.Level, clean(f.Summary))
	if f.NextStep != "" {
		line += " -> " + clean(f.NextStep)
	}
	return line
}

// clean replaces control characters, such as line ends, by blanks.
func clean(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return strings.Join(slices.Collect(strings.FieldsFuncSeq(s, unicode.IsControl)), " ")
}

// Level is how bad a finding is. Levels are ordered: f.Level >= Warning.
type Level int

// Levels, from good to bad. Only Problem makes a report unhealthy.
const (
	// OK: as it should be.
	OK Level = iota
	// Note: good to know; nothing needs to be done.
	Note
	// Warning: works, but will cause trouble or costs more than it should.
	Warning
	// Problem: work is lost, wrong or not done until somebody acts.
	Problem
)

// levels are the words and marks of levels, in order.
func levels() [][2]string {
	return [][2]string{{"ok", "[+]"}, {"note", "[i]"}, {"warning", "[!]"}, {"problem", "[-]"}}
}

// String returns the level in a word: ok, note, warning or problem.
func (l Level) String() string {
	if all := levels(); l >= 0 && int(l) < len(all) {
		return all[l][0]
	}
	return fmt.Sprintf("level %d", int(l))
}

func (l Level) mark() string { return levels()[min(max(l, OK), Problem)][1] }

// MarshalText returns the level's word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level's word.
func (l *Level) UnmarshalText(text []byte) error {
	for i, level := range levels() {
		if level[0] == string(text) {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("level %q is none of ok, note, warning and problem", text)
}
