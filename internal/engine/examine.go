package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Level is the severity of a finding.
type Level int

// Levels, from good to bad.
const (
	// OK: no problem.
	OK Level = iota
	// Note: for information; nothing needs to be done.
	Note
	// Warning: works, but costs more than it should or will fail some day.
	Warning
	// Problem: work is lost, wrong or not done until an operator acts.
	Problem
)

// levelWords returns the levels' names, in order.
func levelWords() []string { return []string{"ok", "note", "warning", "problem"} }

// String returns the level's name.
func (l Level) String() string {
	if words := levelWords(); l >= 0 && int(l) < len(words) {
		return words[l]
	}
	return fmt.Sprintf("level %d", int(l))
}

// MarshalText returns the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses a level's name.
func (l *Level) UnmarshalText(text []byte) error {
	for i, word := range levelWords() {
		if word == string(text) {
			*l = Level(i)
			return nil
		}
	}
	return Invalid("level", "not one of ok, note, warning and problem")
}

// Finding is one result of an examination.
type Finding struct {
	// Level is its severity.
	Level Level `json:"level"`
	// Evidence has the figures that were read.
	Evidence string `json:"evidence"`
	// NextStep is what to do about it; empty if there is nothing to do.
	NextStep string `json:"next_step,omitempty"`
}

// Examination is one check of a database.
type Examination struct {
	// Name is its name, one word.
	Name string
	// Examine runs the check. It changes nothing, its cost does not grow with the tables,
	// and its findings contain no payload and no password.
	Examine func(ctx context.Context) ([]Finding, error)
}

// Limits are the values from which a finding is a warning. Zero fields are the defaults.
type Limits struct {
	// Snapshot is how long a transaction may stay open. Default 5 min.
	Snapshot time.Duration
	// DeadRows is how many rows of a table may await vacuum. Default 50 000.
	DeadRows int64
	// LogPages is how many pages of SQLite's write-ahead log may await their checkpoint.
	// Default 10 000, which are 40 MB.
	LogPages int64
	// DiskFree is how many bytes a SQLite file's disk should have left. Default 256 MB.
	DiskFree int64
	// FreePages is how many pages of a SQLite file may be empty, provided they are
	// most of it. Default 25 000, which are 100 MB.
	FreePages int64
	// Connections is the share of the server's connections that may be in use, in
	// percent. Default 80.
	Connections int64
}

// WithDefaults returns l with the defaults for zero fields.
func (l Limits) WithDefaults() Limits {
	if l.Snapshot <= 0 {
		l.Snapshot = 5 * time.Minute
	}
	for _, f := range []struct {
		limit *int64
		usual int64
	}{{&l.DeadRows, 50_000}, {&l.LogPages, 10_000}, {&l.DiskFree, 256 << 20}, {&l.FreePages, 25_000}, {&l.Connections, 80}} {
		if *f.limit <= 0 {
			*f.limit = f.usual
		}
	}
	return l
}

// Examiner is a DB with checks that only its kind of database has: settings, vacuum,
// files. Package admin runs them.
type Examiner interface {
	// Examinations returns the checks.
	Examinations(Limits) []Examination
}

// NewFinding returns a finding.
func NewFinding(level Level, evidence, next string) Finding {
	return Finding{Level: level, Evidence: evidence, NextStep: next}
}

// OrOK returns the findings or, if there are none, one of level OK.
func OrOK(found []Finding, evidence string) []Finding {
	if len(found) == 0 {
		return []Finding{NewFinding(OK, evidence, "")}
	}
	return found
}

// SchemaDifference returns an [ErrSchemaChanged] that names some of the findings of level
// Problem; nil if there are none.
func SchemaDifference(findings []Finding) error {
	var names []string
	for _, f := range findings {
		if f.Level == Problem {
			names = append(names, f.Evidence)
		}
	}
	if len(names) == 0 {
		return nil
	}
	const some = 3
	more := ""
	if len(names) > some {
		more = fmt.Sprintf(" and %d more", len(names)-some)
	}
	return fmt.Errorf("%w: %s%s", ErrSchemaChanged, strings.Join(names[:min(len(names), some)], "; "), more)
}

// ConnectAdvice returns what to do about a database that does not answer or cannot be
// opened; err may be nil.
func ConnectAdvice(err error) string {
	if errors.Is(err, ErrFileLost) {
		return "Somebody moved, deleted or replaced the file, its -wal or its -shm while it was open. Put the file back, or restart the program; never touch these files while a program runs."
	}
	if errors.Is(err, ErrReadOnly) { // SQLite only: PostgreSQL answers read-only roles
		return "Give this user the right to write the file and its directory, where SQLite keeps its log, or be the user that the workers are: looking needs that, too."
	}
	return "Check that the database is there and the address, and that this program may use it."
}
