package outbox

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/worker"
)

// Progress says how far the handler of a context is: done from 0 to 1, and a note of at most 255 characters, "" for
// none. Others read it where they read the message: what was said last is stored with the next heartbeat of
// the process, every 10 s, and gone when the handler returns. Saying it costs no statement, so a loop may do so
// each time. The context is that of a handler of one message, or made from it; that of a step of a flow is.
// Errors are pawl.ErrInvalid: another context, a share outside 0 … 1, a note that is too long. It is safe for
// concurrent use.
func Progress(ctx context.Context, done float64, note string) error {
	if !(done >= 0 && done <= 1) { // NaN neither
		return engine.Invalid("done", "not within 0 … 1")
	}
	if err := engine.CheckText("note", note, limits.ProgressNote, false); err != nil {
		return err
	}
	if !worker.SetProgress(ctx, worker.Progress{Done: done, Note: note, At: time.Now().UTC()}) {
		return engine.Invalid("context", "not that of a handler of one message")
	}
	return nil
}

// progress returns what the handlers of this process say.
func (o *Outbox) progress() (all []worker.Progress) {
	o.running.Range(func(_, loop any) bool {
		all = append(all, loop.(*worker.Loop[*Message]).Progress()...)
		return true
	})
	return all
}
