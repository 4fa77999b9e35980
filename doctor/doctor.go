// Package doctor examines a database: is the schema whole, do the settings keep
// what was committed, does anybody hold snapshots open, do workers run, do joins
// count right? Each finding says what was seen and what to do about it.
//
//	findings := doctor.Examine(ctx, db, doctor.Options{})
//	if doctor.Worst(findings) == engine.Problem { … }
//
// Nothing it looks at costs the database more as its tables grow, but that a SQLite
// file is read from end to end, as far as Options.Timeout allows.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Options configure an examination. The zero value is right for most.
type Options struct {
	// Timeout is how long each check may take. Default 5 s.
	Timeout time.Duration
	// Fix mends what can be mended: see Finding.Fixable. Then all joins are looked
	// at, page by page, and Timeout is for each page.
	Fix bool
	// Limits say from when on something is worth a warning.
	Limits engine.Limits
	// Now is this program's clock, default time.Now (D-1).
	Now func() time.Time
}

const defaultTimeout = 5 * time.Second

// Finding is one result of a check.
type Finding struct {
	// Check names the check: see docs/doctor.md.
	Check string `json:"check"`
	engine.Finding
	// Fixable says that Options.Fix would mend it.
	Fixable bool `json:"fixable"`
}

// Worst is how bad the worst of findings is.
func Worst(findings []Finding) engine.Level {
	worst := engine.OK
	for i := range findings {
		worst = max(worst, findings[i].Level)
	}
	return worst
}

// examination is one database being examined.
type examination struct {
	db   engine.DB
	opts Options
	// schema is what is wrong with the schema: what then finds no table need not
	// say so again.
	schema error
}

// check is one thing to look at. One that fixes is given more time.
type check struct {
	name string
	look func(ctx context.Context) ([]Finding, error)
}

// Examine makes every check, one after another. A check that fails, or takes
// longer than its time, becomes a finding of its own and keeps nobody from the
// next. A database that cannot be reached is examined no further.
func Examine(ctx context.Context, db engine.DB, o Options) []Finding {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits = o.Limits.WithDefaults()
	e := &examination{db: db, opts: o}
	reached, err := e.run(ctx, check{connection, e.connection})
	if err != nil {
		return reached
	}
	findings := reached
	for _, c := range e.checks() {
		found, _ := e.run(ctx, c)
		findings = append(findings, found...)
	}
	return findings
}

// Unreachable is what is found of a database that could not even be opened. cause
// is err in words without a password; err may be nil.
func Unreachable(cause string, err error) []Finding {
	return []Finding{{Check: connection, Finding: engine.Finding{Level: engine.Problem, Evidence: cause, NextStep: reachIt(err)}}}
}

// checks are all checks but the first, in the order of the report.
func (e *examination) checks() []check {
	all := []check{{"schema", e.checkSchema}, {"clock", e.clock}, {"writable", e.writable}}
	if x, ok := engine.As[engine.Examiner](e.db); ok {
		for _, one := range x.Examinations(e.opts.Limits) {
			all = append(all, check{one.Name, func(ctx context.Context) ([]Finding, error) {
				found, err := one.Look(ctx)
				return named(one.Name, found), err
			}})
		}
	}
	return append(all,
		check{"workers", e.workers}, check{"queues", e.queues}, check{"claims", e.claims}, check{"schedule", e.overdue}, check{"inbox", e.inbox}, check{"leases", e.leases},
		check{"places", e.places}, check{"joins", e.joins},
	)
}

// run makes a check within its time and returns the error that it ended with,
// which is among the findings.
func (e *examination) run(ctx context.Context, c check) ([]Finding, error) {
	limited, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	if e.opts.Fix && c.name == "joins" { // which limits its steps
		limited, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	found, err := c.look(limited)
	if err != nil && !(e.schema != nil && errors.Is(err, engine.ErrSchemaMissing)) {
		found = append(found, Finding{Check: c.name, Finding: e.failure(limited, c.name, err)})
	}
	return found, err
}

// failure is a check that could not be made.
func (e *examination) failure(ctx context.Context, check string, err error) engine.Finding {
	f := engine.Finding{Level: engine.Warning, Evidence: "could not be checked: " + oneLine(err)}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, engine.ErrTimeout):
		f.Evidence = fmt.Sprintf("no answer within %v", e.opts.Timeout)
		f.NextStep = "The database is slow, or somebody holds a lock: look at the other findings, then try again with more time."
	case errors.Is(err, engine.ErrUnreachable), errors.Is(err, engine.ErrConnLost), errors.Is(err, engine.ErrFileLost):
		f.Level, f.NextStep = engine.Problem, reachIt(err)
	case errors.Is(err, engine.ErrSchemaMissing):
		f.NextStep = "A table or routine is missing, or this role may not see it: see the findings on schema and objects."
	}
	if check == connection {
		f.Level, f.NextStep = engine.Problem, reachIt(err)
	}
	return f
}

// connection is the check without which there are no others.
const connection = "connection"

// reachIt is what to do about a database that does not answer.
func reachIt(err error) string {
	if errors.Is(err, engine.ErrFileLost) {
		return "Somebody moved, deleted or replaced the file, its -wal or its -shm while it was open. Put the file back, or restart the program; never touch these files while a program runs."
	}
	if errors.Is(err, engine.ErrReadOnly) { // SQLite: PostgreSQL answers whoever may only read
		return "Give this user the right to write the file and its directory, where SQLite keeps its log, or be the user that the workers are: looking needs that, too."
	}
	return "Check that the database is there and the address, and that this program may use it."
}

// oneLine is an error's text as a report wants it.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// named gives an engine's findings the check's name.
func named(check string, list []engine.Finding) []Finding {
	var found []Finding
	for _, f := range list {
		found = append(found, Finding{Check: check, Finding: f})
	}
	return found
}

// one is the findings of a check that found one thing.
func one(check string, level engine.Level, evidence, next string) []Finding {
	return []Finding{{Check: check, Finding: engine.Finding{Level: level, Evidence: evidence, NextStep: next}}}
}
