package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/throttle"
)

// limited reports limits that keep messages waiting: a note at once, a warning when one has waited for as
// long as messages may that nobody claims. A limit of a queue is reported with the queue.
func limited(ctx context.Context, db engine.DB, o *health.Options) (found []health.Finding) {
	all, err := throttle.New(db, nil).List(ctx)
	if err != nil {
		return []health.Finding{warn("limited", "the limits could not be looked up: "+cause(ctx, err, 0), "")}
	}
	for i := range all {
		l := &all[i]
		if l.Waiting == 0 {
			continue
		}
		level := health.Note
		if l.Oldest > o.Waiting {
			level = health.Warning
		}
		next, text := " --concurrency N", fmt.Sprintf("%s: %s for the limit of %s, the oldest for %s", l.Name, waits(l.Waiting), l.Words(), engine.Span(l.Oldest))
		if l.Rate > 0 {
			text += "; the last of them begins in " + engine.Span(time.Duration(l.Waiting)*l.Period/time.Duration(l.Rate)) + " or later"
			next = " --rate N/PERIOD"
		}
		found = append(found, engine.CodedFinding(level, "limited/"+l.Name, text, fmt.Sprintf("raise it: pawl limits set %s %s", l.Kind, engine.Quoted(l.Name))+next,
			fact("kind", string(l.Kind)), fact("name", l.Name), fact("waiting", l.Waiting), fact("oldest", seconds(l.Oldest)), fact("claimed", l.Claimed)))
	}
	return bounded("limited", found, "no message of a topic waits for its limit")
}

func waits(n int64) string {
	if n == 1 {
		return "1 message waits"
	}
	return fmt.Sprintf("%d messages wait", n)
}
