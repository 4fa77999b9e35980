package checker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/worker"
)

// database adds what is asked of the database first, and reports whether it makes
// sense to ask more.
func database(ctx context.Context, db engine.DB, found []health.Finding) ([]health.Finding, bool) {
	began := time.Now()
	_, _, err := engine.Get(ctx, db, op.ClockNow{})
	took := time.Since(began)
	if err != nil {
		text := fmt.Sprintf("the database does not answer: %s; nothing else could be asked", cause(ctx, err, took))
		if errors.Is(err, engine.ErrNoPrimary) {
			text = "the database is read-only, nothing is claimed: " + cause(ctx, err, took)
		}
		found = append(found, problem("database", text, engine.ConnectAdvice(err), fact("seconds", seconds(took))))
		if errors.Is(err, engine.ErrFileLost) {
			found = append(found, problem("file", worker.ErrorText(err.Error()), engine.ConnectAdvice(err)))
		}
		return found, false
	}
	if refusals := writes(ctx, db); len(refusals) > 0 {
		return append(found, refusals...), false
	}
	found = append(found, ok("database", "answered within "+engine.Span(took), fact("seconds", seconds(took)), fact("engine", db.Engine())))
	found = append(found, writeQueue(db, time.Now())...)
	schema := schema(ctx, db)
	if schema.Level != health.OK {
		return append(found, schema), false
	}
	if moved, is := moved(ctx, db); is {
		return append(found, schema, moved), false
	}
	return append(found, schema), true
}

// moved returns a problem if the store was moved to another database, or is being moved: what is
// left here is nobody's work.
func moved(ctx context.Context, db engine.DB) (health.Finding, bool) {
	m, _, err := engine.Get(ctx, db, op.MoveRead{})
	if err != nil || m.Phase == nil {
		return health.Finding{}, false
	}
	switch *m.Phase {
	case op.Moved:
		return problem("moved", "this store was moved to "+*m.Place+"; nothing is written here", "use the new address"), true
	case op.Closed:
		return problem("moved", "this store is being moved to "+*m.Place+"; nothing is written until that is over", "repeat the move if it has ended: pawl fleet move"), true
	case op.Filling:
		return problem("moved", "a store is being moved here from "+*m.Place+"; nothing is written until that is over", "repeat the move if it has ended: pawl fleet move"), true
	}
	return health.Finding{}, false
}

// writes returns a problem for each reason why the database takes no writes. Reasons that
// could not be read are none: the questions that follow have the error.
func writes(ctx context.Context, db engine.DB) (found []health.Finding) {
	w, ok := engine.As[engine.WriteChecker](db)
	if !ok {
		return nil
	}
	refusals, err := w.CheckWrites(ctx)
	if err != nil {
		return nil
	}
	for _, f := range refusals {
		found = append(found, problem("database", "the database is read-only, nothing is claimed: "+f.Summary, f.NextStep, fact("engine", db.Engine())))
	}
	return found
}

// How long writes may wait for one that holds the lock, before that is a warning or a problem.
const (
	waitLong    = 5 * time.Second
	waitTooLong = 20 * time.Second
)

// writeQueue returns a finding if writes wait and none begins, where there is one writer at a time.
func writeQueue(db engine.DB, now time.Time) []health.Finding {
	w, ok := engine.As[engine.WriteQueue](db)
	if !ok {
		return nil
	}
	n, since := w.WritesWaiting()
	waited := now.Sub(since)
	if n == 0 || waited < waitLong {
		return nil
	}
	level := warn
	if waited >= waitTooLong {
		level = problem
	}
	return []health.Finding{level("writes", fmt.Sprintf("no write for %s although %d wait", engine.Span(waited), n),
		"a transaction is open for long, of this program or of another that uses the file: end it, and in it use the calls whose names end with Tx",
		fact("since", since.UTC()), fact("seconds", seconds(waited)), fact("count", n))}
}

// schema sees to it that the tables are there, and are this build's.
func schema(ctx context.Context, db engine.DB) health.Finding {
	if err := db.CheckSchema(ctx); err != nil {
		return problem("schema", cause(ctx, err, 0), "")
	}
	tables, err := engine.Query(ctx, db, op.HealthTables{})
	missing := engine.Mapped(tables, func(t *op.HealthTable) string { return t.Name })
	switch {
	case err != nil:
		return problem("schema", "the tables could not be looked for: "+cause(ctx, err, 0), "")
	case len(missing) > 0:
		return problem("schema", "tables are missing: "+strings.Join(missing, ", "), "restore a backup: somebody dropped them", fact("missing", missing))
	}
	return ok("schema", "as this build needs it")
}

// cause is why the database did not answer. Errors of engines hold neither payloads
// nor passwords.
func cause(ctx context.Context, err error, took time.Duration) string {
	if errors.Is(err, engine.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		if took > 0 {
			return "no answer within " + engine.Span(took)
		}
		return "no answer in time"
	}
	return worker.ErrorText(err.Error())
}

// maxCounted is how far messages that failed or are stuck are counted.
const maxCounted = 100

// aside reports on messages that nobody is to claim. They are no problem: it is for people
// to decide about them.
func aside(ctx context.Context, db engine.DB) []health.Finding {
	return []health.Finding{paused(ctx, db), stuck(ctx, db)}
}

// stuck warns of messages of the inbox that were begun and not ended (D-55).
func stuck(ctx context.Context, db engine.DB) health.Finding {
	all, more, err := inspect.Stuck(ctx, db, maxCounted)
	if err != nil {
		return warn("inbox", "could not be counted: "+cause(ctx, err, 0), "")
	}
	n := int64(len(all))
	if n == 0 {
		return ok("inbox", "no message of the inbox is stuck", fact("count", n))
	}
	text := fmt.Sprintf("%s %s of the inbox %s being processed and not heard of for over an hour", engine.AtLeast(n, more), engine.Plural(n, "message"), are(n))
	return warn("inbox", text, "pawl inbox ls --stuck", fact("count", n), fact("more", more))
}

// because is a reason in one line that is no longer than the rest of a finding.
func because(reason string) string {
	const most = 200
	reason = engine.Line(reason)
	if runes := []rune(reason); len(runes) > most {
		reason = string(runes[:most-1]) + "…"
	}
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// paused warns of what is paused, and notes what is being brought back.
func paused(ctx context.Context, db engine.DB) health.Finding {
	hold, ending, err := inspect.Paused(ctx, db)
	if err != nil {
		return warn("paused", "could not be looked up: "+cause(ctx, err, 0), "")
	}
	f := ok("paused", "nothing is paused", fact("count", len(hold)))
	var names []string
	for i := range hold[:min(len(hold), few)] {
		p := &hold[i]
		names = append(names, fmt.Sprintf("%s %s since %s by %s%s", p.Kind, p.Name, p.Since.Format(time.RFC3339), p.Actor, because(p.Reason)))
	}
	if len(hold) > 0 {
		f.Level, f.Summary = health.Warning, "paused: "+engine.Listed(names, len(hold), few)
	}
	if len(ending) > 0 {
		f.Level = max(f.Level, health.Note)
		f.Summary += fmt.Sprintf("; %s resumed and being brought back, such as %s", engine.Several(len(ending), "topic"), ending[0].Name)
	}
	return f
}
