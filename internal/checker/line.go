package checker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/inspect"
)

// judged returns what late lines come to, or one finding that there are none.
func judged(ctx context.Context, lines []inspect.Line, err error, o *health.Options, judge func(*inspect.Line) health.Finding) (found []health.Finding) {
	if err != nil {
		return []health.Finding{problem("waiting", "what waits could not be looked up: "+cause(ctx, err, 0), "")}
	}
	for i := range lines {
		if lines[i].Age >= o.Waiting {
			found = append(found, judge(&lines[i]))
		}
	}
	switch {
	case len(lines) == 0:
		return []health.Finding{ok("waiting", "nothing is due")}
	case len(found) == 0:
		return []health.Finding{ok("waiting", "nothing has been due for long")}
	case len(found) <= few:
		return found
	}
	return worstOf("waiting", found, "queues")
}

// finding is what a line comes to. text goes on after what waits.
func finding(l *inspect.Line, level health.Level, text, next string, facts ...health.Fact) health.Finding {
	what, place, of := "message", "queue "+l.Queue, "topic "
	if l.Kind != inspect.Queue {
		what, place = strings.TrimSuffix(l.Kind, "s"), l.Kind
	}
	if l.Kind == inspect.Jobs {
		of = ""
	}
	text = fmt.Sprintf("%s: %s %s %s due, the oldest for %s (%s%s)%s", place, engine.AtLeast(l.Due, l.More), engine.Plural(l.Due, what), are(l.Due), engine.Span(l.Age), of, l.Oldest.Topic, text)
	return engine.CodedFinding(level, "waiting/"+l.Name(), text, next, append([]health.Fact{fact("due", l.Due), fact("more", l.More), fact("oldest", seconds(l.Age))}, facts...)...)
}

// servers are the workers that serve a line: those that were heard of since the work became due.
func servers(all inspect.Workers, l *inspect.Line) inspect.Workers {
	all = all.Since(l.Oldest.At)
	if l.Kind == inspect.Queue {
		return all.Serving(l.Queue)
	}
	return all.Alive()
}

// nobody says that nobody serves a line, and what helps.
func nobody(l *inspect.Line) (who, next string) {
	if l.Kind == inspect.Queue {
		return "no worker of this queue is alive", "start a worker of the queue, with a handler for the topic"
	}
	return "no worker is alive", "start a worker"
}

// lately reports whether one of a line was finished within d.
func lately(l *inspect.Line, d time.Duration) bool { return l.Done != nil && *l.Done <= d }
