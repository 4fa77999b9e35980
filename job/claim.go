package job

import (
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/outbox"
)

// WorkQueue returns the queue of runs, for programs that execute them themselves. Runs are messages:
// they are settled, extended and released as those are. A claim records when they started.
func (j *Jobs) WorkQueue() *outbox.WorkQueue[outbox.Message, outbox.Position] {
	return j.outbox.Operator(access.Key{}).WorkQueueBy(func(owner [16]byte, lease time.Duration, n int) (engine.Answering[op.OutboxClaimed], error) {
		return op.JobClaim{Owner: owner, Lease: lease, Most: n}, nil
	})
}
