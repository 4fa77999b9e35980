package worker

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/bravellian/pawl/internal/engine"
)

// Component is the part of a component that a process runs. Fields that are nil have
// nothing to do.
type Component struct {
	// RunSlice handles items until ctx ends or the time slice is over.
	RunSlice func(ctx context.Context, t TimeSlice) error
	// Cleanup deletes what is older than the retention period. Its loop is not part of
	// Status.
	Cleanup *Cleanup
	// Sources are dispatched by the scheduler.
	Sources []Source
	// Status returns the status of the component's other loops in this process.
	Status func() []LoopStatus
	// Stats returns what the workers of this process did.
	Stats func() Counts
	// Overdue returns the items whose handlers have not returned long after their time-out.
	Overdue func() []int64
	// Progress returns what handlers that run said of how far they are.
	Progress func() []Progress
	// Queues, Topics and Concurrency are what this process serves.
	Queues, Topics func() []string
	Concurrency    func() int
	// Share replaces what the loops of this process have in common.
	Share func(s Shared)
	// Observe registers an observer.
	Observe func(o *Observer)
}

// Shared is what the loops of one process on one database have in common.
type Shared struct {
	Tag  Tag   // in the owner tokens of its claims
	Gate *Gate // of its claims
	// Reaping, of capacity 1, is full while expired leases are reaped: a loop that ends when
	// nothing is left must not find nothing because another one is just putting its items
	// back.
	Reaping chan struct{}
}

// Process is the work of one process on one database, for programs that divide their time
// among many.
type Process struct {
	Components
	DB engine.DB
	// Slice works until the time slice is over and may be called again. It neither
	// checks the schema nor cleans up.
	Slice func(ctx context.Context, t TimeSlice) error
	// Leave removes this process from the list of workers. It gives up after a few
	// seconds; then the entry expires.
	Leave func(ctx context.Context)
}

// Components are the components of one database.
type Components []*Component

// Sources returns the sources of all components.
func (all Components) Sources() (sources []Source) {
	for _, c := range all {
		sources = append(sources, c.Sources...)
	}
	return sources
}

// Overdue returns the items of all components whose handlers are overdue.
func (all Components) Overdue() []int64 {
	return collect(all, func(c *Component) func() []int64 { return c.Overdue })
}

// Progress returns what handlers of all components said of how far they are.
func (all Components) Progress() []Progress {
	return collect(all, func(c *Component) func() []Progress { return c.Progress })
}

// Queues returns the queues that this process serves.
func (all Components) Queues() []string {
	return collect(all, func(c *Component) func() []string { return c.Queues })
}

// Topics returns the topics that have a handler in this process.
func (all Components) Topics() []string {
	return collect(all, func(c *Component) func() []string { return c.Topics })
}

func collect[T any](all Components, of func(*Component) func() []T) (list []T) {
	for _, c := range all {
		if f := of(c); f != nil {
			list = append(list, f()...)
		}
	}
	return list
}

// Concurrency returns how many handlers run at once in this process.
func (all Components) Concurrency() (n int) {
	for _, c := range all {
		if c.Concurrency != nil {
			n += c.Concurrency()
		}
	}
	return n
}

// Stats returns the sum of what the workers of this process did.
func (all Components) Stats() (sum Counts) {
	for _, c := range all {
		if c.Stats != nil {
			sum = sum.Add(c.Stats())
		}
	}
	return sum
}

// Status returns the status of all loops, those of queues first.
func (all Components) Status() (list []LoopStatus) {
	for _, c := range all {
		if c.Status != nil {
			list = append(list, c.Status()...)
		}
		if c.Cleanup != nil {
			list = append(list, c.Cleanup.Status())
		}
	}
	return list
}

// Observe registers an observer with every component.
func (all Components) Observe(o *Observer) {
	for _, c := range all {
		if c.Observe != nil {
			c.Observe(o)
		}
	}
}

// RunSlice runs the queues of all components until ctx ends or the time slice is over.
// One that cannot start stops the others.
func (all Components) RunSlice(ctx context.Context, t TimeSlice) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var loops sync.WaitGroup
	errs := make([]error, len(all))
	for i, c := range all {
		if c.RunSlice == nil {
			continue
		}
		loops.Go(func() {
			if errs[i] = c.RunSlice(ctx, t); errs[i] != nil {
				stop()
			}
		})
	}
	loops.Wait()
	return errors.Join(errs...)
}

// KeepClean runs the clean-up of all components until ctx ends.
func (all Components) KeepClean(ctx context.Context) {
	var loops sync.WaitGroup
	for _, c := range all {
		if c.Cleanup != nil {
			loops.Go(func() { c.Cleanup.Run(ctx) })
		}
	}
	loops.Wait()
}

// CleanUp deletes once what is older than the retention periods, the components in
// reverse order: what refers to messages goes before them.
func (all Components) CleanUp(ctx context.Context) error {
	var errs []error
	for _, c := range slices.Backward(all) {
		if c.Cleanup != nil {
			_, err := c.Cleanup.Once(ctx)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
