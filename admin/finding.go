package admin

import "github.com/bravellian/pawl/internal/engine"

// Finding is one result of a diagnosis: of a check that Examine made, or something that
// keeps from running what Explain was asked about.
type Finding struct {
	// Code is stable, for programs: the check's name as docs/doctor.md lists them, or
	// the reason as docs/explain.md lists them.
	Code string `json:"code"`
	// Level is how bad it is.
	Level Level `json:"level"`
	// Summary is for people: the figures that were seen, one or two sentences. It holds
	// no payload, query or password.
	Summary string `json:"summary"`
	// NextStep is what helps, a command or an action in words; "" if nothing needs to
	// be done.
	NextStep string `json:"next_step,omitempty"`
	// Fixable reports whether ExamineOptions.Fix would repair it.
	Fixable bool `json:"fixable,omitempty"`
}

// Level is how bad a finding is. Levels are ordered: f.Level >= Warning.
type Level int

// Levels, from good to bad.
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

// String returns the level in a word: ok, note, warning or problem.
func (l Level) String() string { return engine.Level(l).String() }

// MarshalText returns the level's word.
func (l Level) MarshalText() ([]byte, error) { return engine.Level(l).MarshalText() }

// UnmarshalText reads a level's word.
func (l *Level) UnmarshalText(text []byte) error { return (*engine.Level)(l).UnmarshalText(text) }
