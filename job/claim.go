package job

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/outbox"
)

// The work-queue calls, for programs that execute runs themselves. Runs are messages, so these
// are claims of messages like any other: of all who try, built-in workers included, one gets a
// run.

// Claim claims up to n due runs under a lease, and records their start. owner is a token of the
// caller's choice, new for every claim. None due is no error.
func (j *Jobs) Claim(ctx context.Context, owner outbox.OwnerToken, lease time.Duration, n int) ([]*outbox.Message, error) {
	return j.queue.ClaimWith(ctx, uuid.UUID(owner), lease, n, func(most int) engine.Answering[op.OutboxClaimed] {
		return op.JobClaim{Owner: owner, Lease: lease, Most: most}
	})
}

// Ack marks claimed runs as succeeded, and returns how many owner held.
func (j *Jobs) Ack(ctx context.Context, owner outbox.OwnerToken, ids ...outbox.Position) (int64, error) {
	return j.outbox.Ack(ctx, owner, ids...)
}

// Abandon puts claimed runs back for another attempt after a backoff, and counts
// this one as failed because of cause, which may be nil.
func (j *Jobs) Abandon(ctx context.Context, owner outbox.OwnerToken, cause error, ids ...outbox.Position) (int64, error) {
	return j.outbox.Abandon(ctx, owner, cause, ids...)
}

// Fail marks claimed runs as failed for good because of cause.
func (j *Jobs) Fail(ctx context.Context, owner outbox.OwnerToken, cause error, ids ...outbox.Position) (int64, error) {
	return j.outbox.Fail(ctx, owner, cause, ids...)
}

// ReapExpired puts runs back whose lease has expired, as all messages, and returns how many
// messages those were. Claim and the workers do so by themselves.
func (j *Jobs) ReapExpired(ctx context.Context) (int64, error) { return j.outbox.ReapExpired(ctx) }
