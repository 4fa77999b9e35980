package admin

import (
	"context"
	"fmt"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/outbox"
)

// limited says which limits keep a message from being claimed now.
func (e *explainer) limited(ctx context.Context, m *outbox.Info) (blockers []health.Finding, err error) {
	all, err := e.limits.For(ctx, m.Queue, m.Topic)
	for _, l := range all {
		subject, next := fmt.Sprintf("%s %q", l.Kind, l.Name), fmt.Sprintf("pawl limits set %s %s", l.Kind, l.Name)
		if l.Kind == throttle.Each {
			subject, next = fmt.Sprintf("topic %q", m.Topic), fmt.Sprintf("pawl limits set each '%s'", l.Name)
		}
		if l.Concurrency > 0 && l.Claimed >= int64(l.Concurrency) {
			blockers = append(blockers, blocker(codeLimited, fmt.Sprintf("%s of %s are claimed, and its limit is %d; this one waits until one of them has ended.", engine.Several(l.Claimed, "message"), subject, l.Concurrency), next))
		}
		if l.Rate > 0 && l.Next.After(e.now) {
			blockers = append(blockers, blocker(codeLimited, fmt.Sprintf("The limit of %s is %d in %s; the next one may begin at %s.", subject, l.Rate, engine.Exact(l.Period), e.when(l.Next)), next))
		}
	}
	return blockers, err
}
