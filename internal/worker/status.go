package worker

import (
	"sync"
	"time"
)

// LoopTracker records the status of a loop. The zero value is ready to use; it is safe for
// concurrent use. Runs of a loop that follow each other share one.
type LoopTracker struct {
	mu      sync.Mutex
	running int
	status  LoopStatus
}

// LoopStatus is the status of a loop, kept in memory.
type LoopStatus struct {
	// Name is the loop's name: "queue default", "scheduler".
	Name string
	// Running is false before it started and after it ended.
	Running bool
	// LastTurn is when the last iteration began, and NextTurn when the next one should have
	// begun: a loop that does not hang is never long past it.
	LastTurn, NextTurn time.Time
	// LastSuccess is when the loop's statements last succeeded; zero: never.
	LastSuccess time.Time
	// Failures is how often in a row they failed, and Error the last error.
	Failures int
	Error    string
}

// Status returns the loop's status under the given name.
func (p *LoopTracker) Status(name string) LoopStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	status := p.status
	status.Name, status.Running = name, p.running > 0
	return status
}

// begin records that the loop starts. end is to be called when it returns.
func (p *LoopTracker) begin() (end func()) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running++ // set with the iteration: either alone means a loop that hangs or has ended
	p.status.LastTurn, p.status.NextTurn = now, now
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running--
	}
}

// iterate records that an iteration begins, and that the next follows within limit.
func (p *LoopTracker) iterate(limit time.Duration) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.LastTurn, p.status.NextTurn = now, now.Add(limit)
}

func (p *LoopTracker) succeeded(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.LastSuccess, p.status.Failures, p.status.Error = at, 0, ""
}

func (p *LoopTracker) failed(err error) {
	text := ErrorText(err.Error())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Failures++
	p.status.Error = text
}

func (p *LoopTracker) lastSuccess() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status.LastSuccess
}
