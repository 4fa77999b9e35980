package checker

import (
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// Phase is where in its life a process is.
type Phase string

// The phases.
const (
	Fresh    Phase = "new" // Run was not called
	Running  Phase = "running"
	Draining Phase = "draining" // Run is told to stop, handlers may finish
	Stopped  Phase = "stopped"  // Run has returned
)

// Life follows a Run. The zero value is new; it is safe for concurrent use.
type Life struct {
	mu    sync.Mutex
	phase Phase
	since time.Time
	asked func() bool // to stop
}

// Begin says that Run begins, until ctx asks it to stop and then end is called.
func (l *Life) Begin(ctx context.Context) (end func()) {
	l.mu.Lock()
	l.asked = func() bool { return ctx.Err() != nil }
	l.mu.Unlock()
	l.enter(Running)
	unhook := context.AfterFunc(ctx, func() { l.enter(Draining) })
	return func() {
		unhook()
		l.enter(Stopped)
	}
}

// enter begins a phase. What watches the context may come late.
func (l *Life) enter(p Phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p == Draining && l.phase != Running {
		return
	}
	l.phase, l.since = p, time.Now()
}

// Phase returns the phase, and since when.
func (l *Life) Phase() (Phase, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.phase == "":
		return Fresh, l.since
	case l.phase == Running && l.asked(): // loops may have ended before the hook ran
		l.phase, l.since = Draining, time.Now()
	}
	return l.phase, l.since
}

// Finding says whether this process takes work on. One that never ran does: it may be
// there to enqueue alone.
func (l *Life) Finding() health.Finding {
	phase, since := l.Phase()
	is := fact("phase", string(phase))
	switch phase {
	case Running:
		return ok("process", "running for "+engine.Span(time.Since(since)), is)
	case Draining:
		return problem("process", "draining for "+engine.Span(time.Since(since))+": it is told to stop, its handlers may finish", "", is)
	case Stopped:
		return problem("process", "stopped "+engine.Span(time.Since(since))+" ago", "", is)
	}
	return ok("process", "Run was not called: this process handles nothing", is)
}
