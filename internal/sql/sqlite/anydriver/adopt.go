package anydriver

import (
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// outboxOrphans reads lanes that have runs or jobs and are not registered.
type outboxOrphans struct{ engine.Rows[orphan] }

type orphan struct{ Lane int64 }

// outboxQueues reads the names of queues: of registered lanes, and of workers.
type outboxQueues struct{ engine.Rows[queue] }

type queue struct{ Queue string }

func adopt(t *txn, o op.OutboxAdopt) (int64, error) {
	n, err := adoptLanes(t, o.Queues)
	t.woke = t.woke || n > 0
	return n, err
}

// adoptLanes registers lanes that have runs and are not registered. The queue of a lane
// cannot be computed from its id, but the ids of a queue's lanes can: this tries the queues
// given, those that have a lane, and those of workers.
func adoptLanes(t *txn, queues []string) (made int64, err error) {
	var orphans []int64
	err = each(t, outboxOrphans{}, func(o *orphan) error { orphans = append(orphans, o.Lane); return nil })
	if err != nil || len(orphans) == 0 {
		return 0, err
	}
	queues = slices.Clone(queues)
	err = each(t, outboxQueues{}, func(q *queue) error { queues = append(queues, q.Queue); return nil })
	if err != nil {
		return 0, err
	}
	for _, queue := range queues {
		for priority := engine.MinPriority; priority <= engine.MaxPriority; priority++ {
			if id := engine.LaneID(queue, priority); slices.Contains(orphans, id) {
				n, err := t.change(op.OutboxLane{ID: id, Queue: queue, Priority: priority})
				if err != nil {
					return made, err
				}
				made += n
			}
		}
	}
	return made, nil
}
