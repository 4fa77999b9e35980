// Package history keeps current what a server's engine knows of its database's history.
package history

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/enginekit/background"
)

// interval is how often a program that only enqueues in its own transactions reads the
// generation: it may neither open connections nor send heartbeats.
const interval = 10 * time.Second

// Reader is an engine.History and how it is read. The zero value is ready to use.
type Reader struct {
	engine.History
	read atomic.Int64 // when the generation was last read, in nanoseconds since 1970
}

// Observe records what the database reported; before is the state when it was asked.
func (r *Reader) Observe(s *op.GenerationState, before engine.HistoryState) {
	r.read.Store(time.Now().UnixNano())
	var seen engine.HistoryState
	if s.Mark != nil {
		seen.Mark = *s.Mark
	}
	if s.Written != nil {
		seen.Written = *s.Written
	}
	r.History.Observe(seen, before)
}

// Rows returns the reader of an op.GenerationCheck's result; finish is to be called when the
// call succeeded.
func (r *Reader) Rows() (each func(engine.Row) error, finish func()) {
	var seen op.GenerationState
	before := r.State()
	each = engine.Scan(func(row *op.GenerationState, unread error) error {
		seen = *row
		return unread
	})
	return each, func() { r.Observe(&seen, before) }
}

// CheckLater reads the generation in the background, if that was not done for long.
func (r *Reader) CheckLater(run *background.Runner, db engine.DB) {
	if time.Since(time.Unix(0, r.read.Load())) > interval {
		ReadLater(run, db)
	}
}

// ReadLater reads the generation in the background.
func ReadLater(run *background.Runner, db engine.DB) {
	run.Run(func(ctx context.Context) {
		_ = db.Read(ctx, engine.Ask(op.GenerationCheck{})) // the next one tries again
	})
}
