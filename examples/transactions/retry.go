package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/bravellian/pawl"
)

// retry repeats a transaction that lost against another one. Under serializable, and under repeatable
// read, PostgreSQL ends the later of two that cannot both have been alone (SQLSTATE 40001), at any
// statement or at the commit: nothing of it happened, and all of it has to be done again, what it read
// included. pawl.Retryable knows such errors, whichever driver they come from.
func retry(ctx context.Context, transaction func() error) error {
	for wait := time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := transaction()
		if !pawl.Retryable(err) {
			return err
		}
		select {
		case <-time.After(wait + rand.N(wait)):
		case <-ctx.Done():
			return err
		}
	}
}
