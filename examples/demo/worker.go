package demo

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
)

// EnvDB and EnvSchema name the variables that tell a worker where the database is. A
// password does not belong on a command line, where every user of the machine can read
// it.
const (
	EnvDB     = "DEMO_DB"
	EnvSchema = "DEMO_SCHEMA"
)

// lease is short, so that what a killed worker held comes back while one watches. The
// default is longer.
const lease = 2 * time.Second

// Work is a worker process. It handles messages until parent, its standard input, ends:
// at the latest when the process that started it ends.
func Work(ctx context.Context, parent io.Reader) error {
	db, err := open(os.Getenv(EnvDB), os.Getenv(EnvSchema))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // until the process ends
		_, _ = io.Copy(io.Discard, parent)
		cancel()
	}()
	retry := &outbox.RetryPolicy{MaxAttempts: 10, Delay: func(int) time.Duration { return 300 * time.Millisecond }, Jitter: 0.1}
	p, err := pawl.New(db.pawl, pawl.Options{
		Logger:       slog.New(slog.DiscardHandler), // most of its errors are made on purpose
		Concurrency:  8,
		BatchSize:    32,
		Lease:        lease,
		PollInterval: 250 * time.Millisecond,
		Grace:        3 * time.Second,
		Retry:        retry,
	})
	if err != nil {
		return errors.Join(err, db.close())
	}
	db.handle(p, retry)
	return errors.Join(p.Run(ctx), db.close())
}
