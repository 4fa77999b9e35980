package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Historied is a DB that can tell how often this process saw its history change.
type Historied interface{ HistoryChanges() int64 }

// History notices when the history of a database changed. The zero value has
// seen nothing. It is safe for concurrent use.
type History struct {
	// Forget drops what the engine remembers of the database. It is called with
	// every change, before Generation tells of it.
	Forget func()
	// Logger gets one warning for each change. nil means slog.Default().
	Logger *slog.Logger

	mu         sync.Mutex
	generation int64
	mark       string
	written    int64
	changes    int64
}

// Sight is what a database says of its generation.
type Sight struct {
	// Mark differs between generations; empty where it cannot be told, as by a
	// standby.
	Mark string
	// Written grows with everything that is written, 0 where it cannot be told.
	// That it shrinks under the same mark tells of a copy that was put back.
	Written int64
}

// Generation returns a number that changes with the history. It is not that of
// another History of the same database, opened before or after.
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

// Known returns what was seen last. A database is asked afterwards: answers may come
// in another order than they were given in.
func (h *History) Known() Sight {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Sight{h.mark, h.written}
}

// Wrote takes note that as much as this was written, by this process.
func (h *History) Wrote(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.written = max(h.written, n)
}

// Saw compares what the database says with what it said before. known is what Known
// returned when it was not asked yet.
func (h *History) Saw(s, known Sight) {
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

// Replaced takes note that the database is another one now, of which nothing was seen yet.
func (h *History) Replaced() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mark, h.written = "", 0
	h.change()
}

func (h *History) change() {
	if h.Forget != nil {
		h.Forget()
	}
	h.generation = max(h.generation+1, time.Now().UnixNano())
	h.changes++
	Logger(h.Logger).Warn("the database's history changed: it was restored, made anew, or is a replica that took over; what was remembered of it is dropped",
		"count", h.changes)
}

// CheckGeneration returns [ErrGeneration] if a call was prepared in another
// generation than this.
func CheckGeneration(generation int64, calls []*Call) error {
	for _, c := range calls {
		if c.Generation != 0 && c.Generation != generation {
			return &Error{Op: c.Name(), Class: ErrGeneration, Err: fmt.Errorf("prepared in generation %d, this is %d", c.Generation, generation)}
		}
	}
	return nil
}

// Repeat runs try, which prepares what it writes and writes it in a transaction
// of pawl's own, until positions that another history gave out are no longer in
// its way. In a caller's transaction it runs once.
func Repeat(ctx context.Context, tx Tx, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		if tx != nil || attempt == MaxAttempts || ctx.Err() != nil || !errors.Is(err, ErrPosition) && !errors.Is(err, ErrGeneration) {
			return err
		}
	}
}
