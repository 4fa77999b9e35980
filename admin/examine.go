package admin

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
)

const defaultTimeout = 5 * time.Second

// Examine makes every check of docs/doctor.md, one after another: is the schema whole, do
// the settings keep what was committed, does anybody hold snapshots open, do workers run,
// do joins count right? Each check finds something, be it that all is well; one that fails
// or takes longer than 5 s becomes a finding of its own. A database that cannot be
// reached is examined no further. The cost does not grow with the tables, except that a
// SQLite file is read from end to end, as far as these seconds allow.
func (a *Admin) Examine(ctx context.Context) health.Report {
	return a.ExamineWith(ctx, access.Key{}, engine.ExamineOptions{})
}

// ExamineWith is Examine with options. Programs cannot name its second parameter.
func (a *Admin) ExamineWith(ctx context.Context, _ access.Key, o engine.ExamineOptions) health.Report {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	e := &examination{db: a.db, opts: o, now: a.now}
	findings, err := e.run(ctx, engine.Examination{Name: connection, Examine: e.checkConnection})
	if err == nil {
		for _, c := range e.checks() {
			found, _ := e.run(ctx, c)
			findings = append(findings, found...)
		}
	}
	return health.NewReport(findings)
}

// examination is one database being examined.
type examination struct {
	db   engine.DB
	opts engine.ExamineOptions
	now  func() time.Time // this program's clock
	// schema is what is wrong with the schema: other checks, which then find no table,
	// do not report it again.
	schema error
}

// connection is the check without which there are no others.
const connection = "connection"

// checks returns all checks but the first, in the order of the report.
func (e *examination) checks() []engine.Examination {
	all := []engine.Examination{{Name: "schema", Examine: e.checkSchema}, {Name: "clock", Examine: e.checkClock}, {Name: "writable", Examine: e.checkWritable}}
	if x, ok := engine.As[engine.Examiner](e.db); ok {
		all = append(all, x.Examinations(engine.WithDefaults(e.opts.Limits))...)
	}
	return append(all, []engine.Examination{
		{Name: "workers", Examine: e.checkWorkers}, {Name: "queues", Examine: e.checkQueues}, {Name: "claims", Examine: e.checkClaims},
		{Name: "schedule", Examine: e.checkSchedule}, {Name: "work", Examine: e.checkWork},
		{Name: "inbox", Examine: e.checkInbox}, {Name: "leases", Examine: e.checkLeases},
		{Name: "places", Examine: e.checkPlaces, FixesInPages: true}, {Name: "order", Examine: e.checkOrder}, {Name: "joins", Examine: e.checkJoins, FixesInPages: true},
	}...)
}

// run makes a check within its time and returns the error that it ended with, which is
// among the findings. A check limits its pages itself where it repairs page by page.
func (e *examination) run(ctx context.Context, c engine.Examination) ([]health.Finding, error) {
	limited, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	if e.opts.Fix && c.FixesInPages {
		limited, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	found, err := c.Examine(limited)
	if err != nil && !(e.schema != nil && errors.Is(err, engine.ErrSchemaMissing)) {
		found = append(found, e.failure(limited, c.Name, err))
	}
	for i := range found {
		found[i].Code = cmp.Or(found[i].Code, c.Name)
	}
	return found, err
}

// failure returns the finding for a check that could not be made.
func (e *examination) failure(ctx context.Context, check string, err error) health.Finding {
	f := engine.NewFinding(health.Warning, "could not be checked: "+oneLine(err), "")
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, engine.ErrTimeout):
		f.Summary = "no answer within " + engine.Exact(e.opts.Timeout)
		f.NextStep = "The database is slow, or somebody holds a lock: look at the other findings, then try again with more time."
	case errors.Is(err, engine.ErrUnreachable), errors.Is(err, engine.ErrConnLost), errors.Is(err, engine.ErrFileLost):
		f.Level, f.NextStep = health.Problem, engine.ConnectAdvice(err)
	case errors.Is(err, engine.ErrSchemaMissing):
		f.NextStep = "A table or routine is missing, or this role may not see it: see the findings on schema and objects."
	}
	if check == connection {
		f.Level, f.NextStep = health.Problem, engine.ConnectAdvice(err)
	}
	return f
}

// oneLine returns an error's text in one line.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// one returns the findings of a check that found one thing.
func one(level health.Level, summary, next string) []health.Finding {
	return []health.Finding{engine.NewFinding(level, summary, next)}
}

// mentions are things that were found, of which the first few are named.
type mentions struct {
	n     int
	first []string
}

func (m *mentions) add(what string) {
	if m.n++; m.n <= mentioned {
		m.first = append(m.first, what)
	}
}

func (m *mentions) String() string { return engine.Listed(m.first, m.n, mentioned) }
