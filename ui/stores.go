package ui

import (
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/engine"
)

// stores lists the stores of a fleet.
func stores(v *visit) (*screen, error) {
	if v.s.source.fleet == nil {
		return &screen{Title: "Stores", Blocks: []block{{Note: "This is one database."}}}, nil
	}
	h := v.s.source.fleet.Health()
	waiting, problems := v.storesWaiting()
	t := &table{Head: []string{"State", "Store", "Where", "Waiting", "Oldest", "Failed", "Last answer", "Next poll", "Failures", "Error"}, None: "The fleet has no stores."}
	for i := range h.Stores {
		s := &h.Stores[i]
		row := []cell{state(string(s.State)), link(s.Key, v.hrefIn(s.Key, "")), words(s.Where)}
		row = append(row, waiting[s.Key].cells()...)
		t.Rows = append(t.Rows, append(row, at(s.LastSuccess), at(s.NextPoll), count(int64(s.Failures)), words(firstLine(s.Error))))
	}
	return &screen{Title: "Stores", Blocks: append([]block{{Note: h.Summary}, {Table: t}}, problems...)}, nil
}

// storeWaiting is how much waits in a store.
type storeWaiting struct {
	ready, failed int64
	oldest        time.Duration
	more          bool // than was counted
}

// storesWaiting asks the stores whether their schema fits and how much waits; problems are of those that
// could not say.
func (v *visit) storesWaiting() (waiting map[string]*storeWaiting, problems []block) {
	waiting = map[string]*storeWaiting{}
	var mu sync.Mutex
	problems = v.each(func(ctx context.Context, s *store) ([]block, error) {
		if err := s.DB().CheckSchema(ctx); err != nil {
			return nil, err
		}
		b, err := s.Admin.Backlog(ctx)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		waiting[s.key] = waitingOf(&b)
		return nil, nil
	})
	return waiting, problems
}

func waitingOf(b *admin.Backlog) *storeWaiting {
	w := &storeWaiting{}
	for i := range b.Messages {
		a := &b.Messages[i]
		w.more = w.more || a.More
		w.oldest = max(w.oldest, a.Oldest)
		switch a.State {
		case "ready", "paused":
			w.ready += a.Count
		case "failed":
			w.failed += a.Count
		}
	}
	return w
}

// cells are waiting, oldest and failed; empty where they are not known.
func (w *storeWaiting) cells() []cell {
	if w == nil {
		return []cell{{Number: true}, {Number: true}, {Number: true}}
	}
	ready, oldest := count(w.ready), cell{Number: true}
	if w.more {
		ready.Text += " or more"
	}
	if w.oldest > 0 {
		oldest.Text = engine.Span(w.oldest)
	}
	return []cell{ready, oldest, count(w.failed)}
}
