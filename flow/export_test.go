package flow

import (
	"context"

	"github.com/bravellian/pawl/internal/engine/op"
)

// LoadTogether reads one flow for several attempts in one batch.
func (fs *Flows) LoadTogether(ctx context.Context, id int64, attempts int) ([][]op.FlowRow, error) {
	batch := make([]*loading, attempts)
	for i := range batch {
		batch[i] = &loading{id: id}
	}
	for _, err := range fs.load(ctx, batch) {
		if err != nil {
			return nil, err
		}
	}
	all := make([][]op.FlowRow, attempts)
	for i, l := range batch {
		steps, signals := l.split()
		all[i] = append(steps, signals...)
	}
	return all, nil
}
