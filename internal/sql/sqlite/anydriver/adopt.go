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
		for _, lane := range lanesNamed(queue) {
			if slices.Contains(orphans, lane.ID) {
				n, err := t.change(lane)
				if err != nil {
					return made, err
				}
				made += n
			}
		}
	}
	return made, nil
}

// lanesNamed returns all lanes that a queue can have.
func lanesNamed(queue string) (all []op.OutboxLane) {
	for priority := engine.MinPriority; priority <= engine.MaxPriority; priority++ {
		all = append(all, op.OutboxLane{ID: engine.LaneID(queue, priority, engine.Claimable), Queue: queue, Priority: priority})
	}
	for _, kind := range []engine.LaneKind{engine.Ordered, engine.Waiting} {
		all = append(all, op.OutboxLane{ID: engine.LaneID(queue, 0, kind), Queue: queue, Kind: int(kind)})
	}
	return all
}
