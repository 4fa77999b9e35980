package pawl

import (
	"context"
	"errors"
)

// background is the Run that Start began.
type background struct {
	stop  context.CancelFunc
	ended chan struct{}
	err   error // of Run, when it has ended
}

// Start is Run in the background. It returns when work has begun, or with the error that keeps it from that, or
// with ctx's error if ctx ends before: Run's own context has the values of ctx, and ends with Stop.
// An error that ends it later is logged, and returned by Stop. One that failed may be tried again; after one that
// did not, another is an error.
func (p *Pawl) Start(ctx context.Context) error {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	b := &background{stop: stop, ended: make(chan struct{})}
	if !p.started.CompareAndSwap(nil, b) {
		stop()
		return errors.New("pawl: Start was called before")
	}
	begun := make(chan struct{})
	go func() {
		defer close(b.ended)
		if b.err = p.work(run, func() { close(begun) }); b.err != nil {
			p.log.ErrorContext(run, "work ended", "error", b.err)
		}
	}()
	select {
	case <-begun:
		return nil
	case <-b.ended:
		p.started.Store(nil)
		return b.err
	case <-ctx.Done():
		stop()
		<-b.ended
		p.started.Store(nil)
		return ctx.Err()
	}
}

// Stop stops what Start began, gracefully as Run does when its context ends, and returns what Run would have
// returned, or ctx's error if ctx ends before: then it goes on stopping. Without a Start it returns nil.
// It may be called several times, by several goroutines. Stop what enqueues before, for instance an HTTP server.
func (p *Pawl) Stop(ctx context.Context) error {
	b := p.started.Load()
	if b == nil {
		return nil
	}
	b.stop()
	select {
	case <-b.ended:
		return b.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
