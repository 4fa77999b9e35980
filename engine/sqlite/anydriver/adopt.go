package anydriver

import (
	"slices"

	"github.com/bravellian/pawl/engine"
)

// adopt: args 0 queues. Makes lanes known that runs lie in and nobody knows, and
// answers how many.
func adopt(t *txn, c *engine.Call) error {
	n, err := adoptLanes(t, arg[[]string](c, 0))
	if err != nil {
		return err
	}
	t.woke = t.woke || n > 0
	return answer(c, n)
}

// adoptLanes: a lane's id cannot be read backwards, but those of a queue can be
// computed: of the queues given, of those that have a lane, and of those that somebody
// works on.
func adoptLanes(t *txn, queues []string) (made int64, err error) {
	var orphans []int64
	err = t.query("outbox/orphans", func(r engine.Row) error {
		var lane int64
		defer func() { orphans = append(orphans, lane) }()
		return r.Scan(&lane)
	})
	if err != nil || len(orphans) == 0 {
		return 0, err
	}
	queues = slices.Clone(queues)
	err = t.query("outbox/queues", func(r engine.Row) error {
		var queue string
		defer func() { queues = append(queues, queue) }()
		return r.Scan(&queue)
	})
	if err != nil {
		return 0, err
	}
	for _, queue := range queues {
		for priority := engine.MinPriority; priority <= engine.MaxPriority; priority++ {
			if id := engine.LaneID(queue, priority); slices.Contains(orphans, id) {
				n, err := affected(t, "outbox/lane", id, queue, priority)
				if err != nil {
					return made, err
				}
				made += n
			}
		}
	}
	return made, nil
}
