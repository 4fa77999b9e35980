package ui

import (
	"context"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/inspect"
)

// stores lists the stores of a fleet.
func stores(v *visit) (*screen, error) {
	if v.s.source.fleet == nil {
		return &screen{Title: "Stores", Blocks: []block{{Note: "This is one database."}}}, nil
	}
	h := v.s.source.fleet.State(access.Key{})
	waiting, problems := v.storesWaiting()
	t := &table{Head: []string{"State", "Store", "Where", "Waiting", "Oldest", "Failed", "Last answer", "Next poll", "Failures", "Error"}, None: "The fleet has no stores."}
	for i := range h.Stores {
		s := &h.Stores[i]
		row := []cell{state(string(s.State)), link(s.Key, v.hrefIn(s.Key, "")), words(s.Where)}
		if cells, known := waiting[s.Key]; known {
			row = append(row, cells[:]...)
		} else {
			row = append(row, age(0), age(0), age(0)) // not known
		}
		t.Rows = append(t.Rows, append(row, at(s.LastSuccess), at(s.NextPoll), count(int64(s.Failures)), words(firstLine(s.Error))))
	}
	return &screen{Title: "Stores", Blocks: append([]block{{Note: h.Summary}, {Table: t}}, problems...)}, nil
}

// storesWaiting asks the stores whether their schema fits, how much waits, since when and how much
// failed; problems are of those that could not say.
func (v *visit) storesWaiting() (waiting map[string][3]cell, problems []block) {
	waiting = map[string][3]cell{}
	var mu sync.Mutex
	problems = v.each(func(ctx context.Context, s *store) ([]block, error) {
		if err := s.DB().CheckSchema(ctx); err != nil {
			return nil, err
		}
		b, err := inspect.ReadBacklog(ctx, s.db())
		if err != nil {
			return nil, err
		}
		oldest := time.Duration(0)
		for i := range b.Messages {
			oldest = max(oldest, b.Messages[i].Oldest)
		}
		mu.Lock()
		defer mu.Unlock()
		waiting[s.key] = [3]cell{counted(inspect.Of(b.Messages, "ready", "paused")), age(oldest), counted(inspect.Of(b.Messages, "failed"))}
		return nil, nil
	})
	return waiting, problems
}
