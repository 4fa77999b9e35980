package worker

import (
	"sync"
	"time"
)

// LoopTracker records the status of a loop. The zero value is ready; it is safe for
// concurrent use. Runs of a loop that follow each other share one.
type LoopTracker struct {
	mu      sync.Mutex
	running int
	v       LoopStatus
}

// LoopStatus are how a loop is, without asking the database.
type LoopStatus struct {
	// Name says which loop: "queue default", "scheduler".
	Name string
	// Running is false before it started and after it ended.
	Running bool
	// LastTurn is when it last went round, and NextTurn when it should have done so
	// again: a loop that lives is never long past that.
	LastTurn, NextTurn time.Time
	// LastSuccess is when the database last did what the loop is for; zero: never.
	LastSuccess time.Time
	// Failures is how often in a row the database did not, and Error the last reason.
	Failures int
	Error    string
}

// LoopStatus returns how the loop is; name is what to call it.
func (p *LoopTracker) Status(name string) LoopStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.v
	v.Name, v.Running = name, p.running > 0
	return v
}

// begin says that the loop starts. end is to be called when it returns.
func (p *LoopTracker) begin() (end func()) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running++ // with its turn: either alone passes for a loop that hangs or has ended
	p.v.LastTurn, p.v.NextTurn = now, now
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running--
	}
}

// turn records that the loop iterates, and will again after rest at the latest.
func (p *LoopTracker) turn(rest time.Duration) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.v.LastTurn, p.v.NextTurn = now, now.Add(rest)
}

func (p *LoopTracker) succeeded(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.v.LastSuccess, p.v.Failures, p.v.Error = at, 0, ""
}

func (p *LoopTracker) failed(err error) {
	text := ErrorText(err.Error())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.v.Failures++
	p.v.Error = text
}

func (p *LoopTracker) lastSuccess() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.v.LastSuccess
}
