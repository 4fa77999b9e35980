package anydriver

import (
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// activityCountRun counts the messages Lo … End (exclusive) in a minute, in rows of a worker.
type activityCountRun struct {
	engine.Changes
	Lo, End, Minute int64
	Worker          [16]byte
	Outcome         string
	Fingerprint     *string
}

// countActivity counts what an owner holds. There is one writer, and so one worker.
func countActivity(t *txn, o op.ActivityCount) (total int64, err error) {
	run := activityCountRun{Minute: t.now / 60e6, Worker: [16]byte{15: 1}, Outcome: o.Outcome, Fingerprint: o.Fingerprint}
	for _, h := range o.Runs {
		found, err := rows(t, outboxTakeFind{Lo: h.Lo, End: h.Lo + int64(h.N), Owner: h.Owner})
		if err != nil {
			return 0, err
		}
		for _, r := range found {
			run.Lo, run.End = max(r.Lo, h.Lo), min(r.end(), h.Lo+int64(h.N))
			total += run.End - run.Lo
			if err := t.do(run); err != nil {
				return 0, err
			}
		}
	}
	return total, nil
}
