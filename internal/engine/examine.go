package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
)

// Examination is one thing to look at.
type Examination struct {
	// Name is its name, one word.
	Name string
	// Examine returns what was found, without a code. It changes nothing, costs nothing
	// that grows with the tables, and what it finds holds no payload and no password.
	Examine func(ctx context.Context) ([]health.Finding, error)
	// FixesInPages says that it goes through all rows where it repairs, and limits the time of
	// each page itself.
	FixesInPages bool
}

// ExamineOptions configure an examination: see admin.Admin.Examine.
type ExamineOptions struct {
	// Timeout bounds each check. Default 5 s.
	Timeout time.Duration
	// Fix repairs what can be repaired: see health.Finding.Fixable. Then all joins and all messages
	// are read, page by page, and Timeout bounds each page.
	Fix bool
	// Limits are from when on something is worth a warning.
	Limits ExamineLimits
}

// ExamineLimits are from when on an examination warns. Zero fields are the defaults.
type ExamineLimits struct {
	// Snapshot is how long a transaction may stay open. Default 5 min.
	Snapshot time.Duration
	// DeadRows is how many rows of a table may await vacuum. Default 50 000.
	DeadRows int64
	// LogPages is how many pages of SQLite's write-ahead log may await their
	// checkpoint. Default 10 000, which are 40 MB.
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

// WithDefaults returns limits with the defaults filled in.
func WithDefaults(l ExamineLimits) ExamineLimits {
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
	// Examinations returns what can be looked at.
	Examinations(ExamineLimits) []Examination
}

// NewFinding returns a finding of an examination, which has the code. next is "" if nothing needs
// to be done.
func NewFinding(level health.Level, summary, next string) health.Finding {
	return CodedFinding(level, "", summary, next)
}

// CodedFinding returns a finding.
func CodedFinding(level health.Level, code, summary, next string, facts ...health.Fact) health.Finding {
	return health.Finding{Code: code, Level: level, Summary: summary, NextStep: next, Facts: facts}
}

// OrOK returns the findings or, if there are none, one that all is well.
func OrOK(found []health.Finding, summary string) []health.Finding {
	if len(found) == 0 {
		return []health.Finding{NewFinding(health.OK, summary, "")}
	}
	return found
}

// SchemaDifference is an [ErrSchemaChanged] that names some of the problems among findings; nil
// if there are none.
func SchemaDifference(findings []health.Finding) error {
	var names []string
	for _, f := range findings {
		if f.Level == health.Problem {
			names = append(names, f.Summary)
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
	if errors.Is(err, ErrNoPrimary) {
		return "Promote a standby, or wait until that is done: work then goes on by itself. If a primary is up, check that the connection string has its host."
	}
	if errors.Is(err, ErrReadOnly) { // SQLite only: PostgreSQL answers read-only roles
		return "Give this user the right to write the file and its directory, where SQLite keeps its log, or be the user that the workers are: looking needs that, too."
	}
	return "Check that the database is there and the address, and that this program may use it."
}

// WriteChecker is a database that knows why it takes no writes.
type WriteChecker interface {
	// CheckWrites returns a problem for each reason; none while it takes writes.
	CheckWrites(ctx context.Context) ([]health.Finding, error)
}
