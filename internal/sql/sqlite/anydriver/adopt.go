package anydriver

import (
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// outboxOrphans reads lanes of runs and jobs that are not known.
type outboxOrphans struct{ engine.Rows[orphan] }

type orphan struct{ Lane int64 }

// outboxQueues reads the queues that are known: of lanes, and of workers.
type outboxQueues struct{ engine.Rows[queue] }

type queue struct{ Queue string }

func adopt(t *txn, o op.OutboxAdopt) (int64, error) {
	n, err := adoptLanes(t, o.Queues)
	t.woke = t.woke || n > 0
	return n, err
}

// adoptLanes: a lane's id cannot be read backwards, but those of a queue can be
// computed: of the queues given, of those that have a lane, and of those that somebody
// works on.
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
