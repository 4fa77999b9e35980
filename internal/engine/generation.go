package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// HistoryCounter is a DB that counts how often its history changed while it was open.
type HistoryCounter interface{ HistoryChanges() int64 }

// History detects changes of a database's history. The zero value has no state. It is safe
// for concurrent use.
type History struct {
	// OnChange drops what the engine keeps in memory of the database. It is called with
	// every change, before Generation returns the new number.
	OnChange func()
	// Logger gets one warning for each change. nil means slog.Default().
	Logger *slog.Logger

	mu         sync.Mutex
	generation int64
	mark       string
	written    int64
	changes    int64
}

// HistoryState is the state of a database's history, as the database reports it.
type HistoryState struct {
	// Mark differs between generations; empty where it is unknown, as on a standby.
	Mark string
	// Written grows with everything that is written; 0 where it is unknown. If it
	// shrinks under the same mark, a copy was restored.
	Written int64
}

// Generation returns a number that changes with the history. Two Histories of the same
// database have different numbers.
func (h *History) Generation() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.generation == 0 {
		h.generation = time.Now().UnixNano()
	}
	return h.generation
}

// Changes returns how often the history changed.
func (h *History) Changes() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// State returns the state that was read last. Call it before the database is queried:
// answers may arrive in another order than they were read in.
func (h *History) State() HistoryState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return HistoryState{h.mark, h.written}
}

// RecordWrite records that as much as n was written, by this process.
func (h *History) RecordWrite(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.written = max(h.written, n)
}

// Observe compares a state that was read with the last one; known is what State returned
// before the query.
func (h *History) Observe(s, known HistoryState) {
	if s.Mark == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	back := s.Mark == known.Mark && s.Written != 0 && s.Written < known.Written
	same := h.mark == s.Mark && !back
	first := h.mark == ""
	if same || first {
		h.mark, h.written = s.Mark, max(h.written, s.Written)
		return
	}
	h.mark, h.written = s.Mark, s.Written
	h.change()
}

// MarkReplaced records that the database is another one, whose state was not read yet.
func (h *History) MarkReplaced() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mark, h.written = "", 0
	h.change()
}

func (h *History) change() {
	if h.OnChange != nil {
		h.OnChange()
	}
	h.generation = max(h.generation+1, time.Now().UnixNano())
	h.changes++
	Logger(h.Logger).Warn("the database's history changed: it was restored, made anew, or is a replica that took over; what was remembered of it is dropped",
		"count", h.changes)
}

// CheckGeneration returns [ErrGeneration] if a call was prepared in another generation.
func CheckGeneration(generation int64, calls []*Call) error {
	for _, c := range calls {
		if c.Generation != 0 && c.Generation != generation {
			return &Error{Op: c.Name(), Class: ErrGeneration, Err: fmt.Errorf("prepared in generation %d, this is %d", c.Generation, generation)}
		}
	}
	return nil
}

// Repeat runs try, which prepares what it writes and writes it in a transaction of pawl's
// own, and repeats it while positions of an earlier history are in the way. In a caller's
// transaction it runs once.
func Repeat(ctx context.Context, tx Tx, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		if tx != nil || attempt == MaxAttempts || ctx.Err() != nil || !errors.Is(err, ErrPosition) && !errors.Is(err, ErrGeneration) {
			return err
		}
	}
}
