package flow

import (
	"context"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/outbox"
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

// KeepTogether stores a step of each message in one batch, and returns of each whether its owner holds it.
func (fs *Flows) KeepTogether(ctx context.Context, owners []outbox.OwnerToken, ids []outbox.Position) []bool {
	batch := make([]*write, len(ids))
	for i := range ids {
		batch[i] = &write{step: &op.FlowStep{Owner: owners[i], ID: int64(ids[i]), Name: "step", Nr: 1, Result: []byte{}}}
	}
	held := make([]bool, len(batch))
	errs := fs.write(ctx, batch)
	for i := range held {
		held[i] = errs == nil || errs[i] == nil
	}
	return held
}
