package demo

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/worker"
)

// lease is short, so that what a killed worker held comes back while one
// watches.
const lease = 2 * time.Second

// Work is a worker process of the demo. It works until parent, its standard
// input, ends: at the latest when the process that started it dies.
func Work(ctx context.Context, db, schema string, parent io.Reader) error {
	s, err := openStage(db, schema)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, parent)
		cancel()
	}()
	p, err := pawl.New(s, pawl.Options{
		Logger:       slog.New(slog.DiscardHandler), // its failures are part of the play
		Concurrency:  8,
		BatchSize:    32,
		Lease:        lease,
		PollInterval: 250 * time.Millisecond,
		Grace:        3 * time.Second,
		Retry:        &worker.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return 300 * time.Millisecond }, Jitter: 0.1},
	})
	if err != nil {
		return errors.Join(err, s.close())
	}
	s.handle(p)
	return errors.Join(p.Run(ctx), s.close())
}
