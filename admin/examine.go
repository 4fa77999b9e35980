package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// ExamineOptions configure an examination. The zero value is right for most.
type ExamineOptions struct {
	// Timeout bounds each check. Default 5 s.
	Timeout time.Duration
	// Fix repairs what can be repaired: see Finding.Fixable. Then all joins are read,
	// page by page, and Timeout bounds each page.
	Fix bool
	// Limits are from when on something is worth a warning.
	Limits Limits
	// Now is this program's clock. Default time.Now.
	Now func() time.Time
}

// Limits are from when on something is worth a warning. Zero fields are the defaults.
type Limits struct {
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

const defaultTimeout = 5 * time.Second

// Report is what an examination found.
type Report struct {
	// Level is that of the worst finding.
	Level    Level     `json:"level"`
	Findings []Finding `json:"findings"`
}

// Examine makes every check of docs/doctor.md, one after another: is the schema whole, do
// the settings keep what was committed, does anybody hold snapshots open, do workers run,
// do joins count right? Each check finds something, be it that all is well; one that fails
// or takes longer than Timeout becomes a finding of its own. A database that cannot be
// reached is examined no further. The cost does not grow with the tables, except that a
// SQLite file is read from end to end, as far as Timeout allows.
func (a *Admin) Examine(ctx context.Context, o ExamineOptions) Report {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &examination{db: a.db, opts: o}
	findings, err := e.run(ctx, check{connection, e.checkConnection})
	if err == nil {
		for _, c := range e.checks() {
			found, _ := e.run(ctx, c)
			findings = append(findings, found...)
		}
	}
	return newReport(findings)
}

func newReport(findings []Finding) Report {
	r := Report{Findings: findings}
	for i := range findings {
		r.Level = max(r.Level, findings[i].Level)
	}
	return r
}

// examination is one database being examined.
type examination struct {
	db   engine.DB
	opts ExamineOptions
	// schema is what is wrong with the schema: other checks, which then find no table,
	// do not report it again.
	schema error
}

// check is one check of an examination.
type check struct {
	name string
	make func(ctx context.Context) ([]Finding, error)
}

// connection is the check without which there are no others.
const connection = "connection"

// checks returns all checks but the first, in the order of the report.
func (e *examination) checks() []check {
	all := []check{{"schema", e.checkSchema}, {"clock", e.checkClock}, {"writable", e.checkWritable}}
	if x, ok := engine.As[engine.Examiner](e.db); ok {
		for _, one := range x.Examinations(engine.Limits(e.opts.Limits).WithDefaults()) {
			all = append(all, check{one.Name, func(ctx context.Context) ([]Finding, error) {
				found, err := one.Examine(ctx)
				return ofEngine(one.Name, found), err
			}})
		}
	}
	return append(all,
		check{"workers", e.checkWorkers}, check{"queues", e.checkQueues}, check{"claims", e.checkClaims}, check{"schedule", e.checkSchedule},
		check{"inbox", e.checkInbox}, check{"leases", e.checkLeases}, check{"places", e.checkPlaces}, check{"joins", e.checkJoins},
	)
}

// run makes a check within its time and returns the error that it ended with, which is
// among the findings. The joins check limits its pages itself when it repairs.
func (e *examination) run(ctx context.Context, c check) ([]Finding, error) {
	limited, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	if e.opts.Fix && c.name == "joins" {
		limited, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	found, err := c.make(limited)
	if err != nil && !(e.schema != nil && errors.Is(err, engine.ErrSchemaMissing)) {
		found = append(found, e.failure(limited, c.name, err))
	}
	return found, err
}

// failure returns the finding for a check that could not be made.
func (e *examination) failure(ctx context.Context, check string, err error) Finding {
	f := Finding{Code: check, Level: Warning, Summary: "could not be checked: " + oneLine(err)}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, engine.ErrTimeout):
		f.Summary = fmt.Sprintf("no answer within %v", e.opts.Timeout)
		f.NextStep = "The database is slow, or somebody holds a lock: look at the other findings, then try again with more time."
	case errors.Is(err, engine.ErrUnreachable), errors.Is(err, engine.ErrConnLost), errors.Is(err, engine.ErrFileLost):
		f.Level, f.NextStep = Problem, engine.ConnectAdvice(err)
	case errors.Is(err, engine.ErrSchemaMissing):
		f.NextStep = "A table or routine is missing, or this role may not see it: see the findings on schema and objects."
	}
	if check == connection {
		f.Level, f.NextStep = Problem, engine.ConnectAdvice(err)
	}
	return f
}

// oneLine returns an error's text in one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// ofEngine returns the findings of an engine's own check.
func ofEngine(check string, list []engine.Finding) []Finding {
	var found []Finding
	for _, f := range list {
		found = append(found, newFindings(check, Level(f.Level), f.Evidence, f.NextStep)...)
	}
	return found
}

// newFindings returns the findings of a check that found one thing.
func newFindings(check string, level Level, summary, next string) []Finding {
	return []Finding{{Code: check, Level: level, Summary: summary, NextStep: next}}
}
