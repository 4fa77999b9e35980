package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/pause"
	"github.com/bravellian/pawl/internal/worker"
)

const (
	// minFailures is how many attempts have to have failed for a warning, and of messages that
	// failed for good how many, as a share of those that ended.
	minFailures  = 3
	minFailed    = 10
	minFailShare = 0.1
	// maxUnhandled bounds of how many runs and messages those without a handler are counted.
	maxUnhandled = 10_000
)

// users reports what goes wrong in the work of the database's users, by what all workers wrote: topics
// whose attempts fail, messages that nobody has a handler for, and messages that failed for good.
func users(ctx context.Context, db engine.DB, list listing, o *health.Options) []health.Finding {
	all, err := inspect.ReadTrouble(ctx, db)
	if err != nil {
		return append([]health.Finding{warn("failing", "could not be looked up: "+cause(ctx, err, 0), "")}, failed(ctx, db, nil))
	}
	found := append(failing(all, o), unhandled(ctx, db, all, list, o)...)
	found = append(found, failed(ctx, db, all))
	found = append(found, limited(ctx, db, o)...)
	return append(found, processes(ctx, list)...)
}

// failing reports topics of which more attempts fail than succeed.
func failing(all []inspect.Trouble, o *health.Options) (found []health.Finding) {
	for i := range all {
		t := &all[i]
		n, failed := t.Streak.Attempts()
		if failed < minFailures {
			continue
		}
		share := float64(failed) / float64(n)
		level := health.Warning
		if failed >= int64(o.FailingAttempts) && share >= o.FailingShare {
			level = health.Problem
		}
		found = append(found, engine.CodedFinding(level, "failing/"+place(t),
			fmt.Sprintf("%s: %.0f %% of %s failed since %s, most often: %s", name(t), 100*share, engine.Several(n, "attempt"), clock(t.Since), reason(t.Streak.CommonestError())),
			"see why: pawl ls --failed --topic "+engine.Quoted(t.Topic), fact("queue", t.Queue), fact("topic", t.Topic), fact("attempts", n), fact("failed", failed), fact("since", t.Since.Format(time.RFC3339)), fact("error", t.Streak.CommonestError())))
	}
	return bounded("failing", found, "no topic's attempts fail more often than they succeed")
}

// bounded returns the worst few findings, or one that says that there are none.
func bounded(code string, found []health.Finding, none string) []health.Finding {
	if len(found) == 0 {
		return []health.Finding{ok(code, none)}
	}
	return worstOf(code, found, "topics")
}

// worstOf returns the worst few findings, and one for the rest.
func worstOf(code string, found []health.Finding, things string) []health.Finding {
	slices.SortStableFunc(found, func(a, b health.Finding) int { return cmp.Compare(b.Level, a.Level) })
	if len(found) <= few {
		return found
	}
	rest := health.NewReport(found[few:])
	return append(found[:few:few], engine.CodedFinding(rest.Level, code, fmt.Sprintf("and %d more %s", len(rest.Findings), things), ""))
}

// place is where a topic is, for a code: "mail.receipt", or "mail.receipt/bulk" in another queue than the default one.
func place(t *inspect.Trouble) string {
	if t.Queue == worker.DefaultQueue {
		return t.Topic
	}
	return t.Topic + "/" + t.Queue
}

// name is the same for people.
func name(t *inspect.Trouble) string {
	switch t.Queue {
	case worker.DefaultQueue:
		return t.Topic
	case "":
		return "topics that are counted together"
	}
	return t.Topic + " in queue " + t.Queue
}

func clock(t time.Time) string { return t.UTC().Format("15:04Z") }

// reason is an error's fingerprint, or what is said where it is not known.
func reason(print string) string { return cmp.Or(print, "the error is not known") }

// unhandled reports messages that workers put back because none of those that are alive, and serve their
// queue, has a handler for them. They are tried again with delays and lost to nobody.
func unhandled(ctx context.Context, db engine.DB, all []inspect.Trouble, list listing, o *health.Options) (found []health.Finding) {
	hold := sync.OnceValue(func() []pause.Pause {
		hold, _, _ := inspect.Paused(ctx, db) // without them more is reported
		return hold
	})
	alive, err := list()
	if err != nil {
		return []health.Finding{warn("unhandled", "the workers could not be looked up: "+cause(ctx, err, 0), "")}
	}
	all = alive.WithoutHandler(all)
	for i := range all {
		t := &all[i]
		if slices.ContainsFunc(hold(), func(p pause.Pause) bool {
			return p.Kind == pause.Topic && p.Name == t.Topic || p.Kind == pause.Queue && p.Name == t.Queue
		}) {
			continue // they do not come back
		}
		n, more, oldest, err := inspect.Waits(ctx, db, t.Queue, t.Topic, maxUnhandled)
		if err == nil && n == 0 {
			continue // they were moved or given up meanwhile
		}
		level := health.Warning
		if max(t.Unhandled, oldest) > o.Unhandled {
			level = health.Problem
		}
		found = append(found, engine.CodedFinding(level, "unhandled/"+place(t),
			fmt.Sprintf("%s of %s, the oldest for %s: no live worker has a handler", engine.AtLeast(n, more)+" "+engine.Plural(n, "message"), name(t), engine.Span(oldest)),
			"start a worker with a handler for it, or move them: pawl retopic "+engine.Quoted(t.Topic)+" NEW",
			fact("queue", t.Queue), fact("topic", t.Topic), fact("messages", n), fact("more", more), fact("oldest", seconds(oldest))))
	}
	return bounded("unhandled", found, "no message was put back for want of a handler")
}

// failed reports how many messages failed for good. Many within an hour are a warning.
func failed(ctx context.Context, db engine.DB, all []inspect.Trouble) health.Finding {
	counts, err := inspect.Counts(ctx, db, 0, maxCounted+1)
	if err != nil {
		return warn("failed", "could not be counted: "+cause(ctx, err, 0), "")
	}
	n, more := min(counts.MessagesFailed, maxCounted), counts.MessagesFailed > maxCounted
	if n == 0 {
		return ok("failed", "no message has failed for good", fact("count", n))
	}
	f := engine.CodedFinding(health.Note, "failed", engine.AtLeast(n, more)+" "+engine.Plural(n, "message")+" failed for good", "pawl ls --failed", fact("count", n), fact("more", more))
	var lately int64
	var of []string
	errs := map[string]string{} // by topic
	for i := range all {
		t := &all[i].Last60
		if t.Failed == 0 {
			continue
		}
		lately += t.Failed
		of = append(of, fmt.Sprintf("%s (%s)", name(&all[i]), reason(t.CommonestError())))
		errs[name(&all[i])] = t.CommonestError()
		if t.Failed >= minFailed && float64(t.Failed) > minFailShare*float64(t.Failed+t.Done) {
			f.Level = health.Warning
		}
	}
	if lately > 0 {
		f.Summary += fmt.Sprintf(", %d of them within an hour: %s", lately, engine.Listed(of, len(of), 3))
		f.Facts = append(f.Facts, fact("within_hour", lately), fact("errors", errs))
	}
	return f
}
