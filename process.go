package pawl

import (
	"context"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/worker"
)

// Internal is for packages of this module: programs cannot name its parameter.
func (p *Pawl) Internal(access.Key) *worker.Process {
	return &worker.Process{Components: p.components, DB: p.db, Slice: p.slice, Leave: p.workers.Leave}
}

// slice works until the time slice is over. It neither checks the schema nor cleans up.
func (p *Pawl) slice(ctx context.Context, t worker.TimeSlice) error {
	t = t.Shared()
	p.workers.Show(ctx, p.self())
	scheduler := p.scheduler()
	scheduler.Dispatch(ctx)
	defer p.workers.Record(context.WithoutCancel(ctx))
	return scheduler.Beside(ctx, func(ctx context.Context) error { return p.components.RunSlice(ctx, t) })
}
