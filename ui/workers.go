package ui

import (
	"context"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
)

// workers lists the processes that work on a database.
func workers(v *visit) (*screen, error) {
	return &screen{Title: "Workers", Blocks: v.each(func(ctx context.Context, s *store) ([]block, error) {
		list, err := inspect.ListWorkers(ctx, s.db())
		return []block{{Table: v.paged(s, workerTable(list), "workers")}}, err
	})}, nil
}

func workerTable(list inspect.Workers) *table {
	return tableOf("No worker runs: nothing is handled.", []string{"State", "Worker", "Host", "Process", "Busy", "Queues", "Topics", "Heartbeat", "Since", "Version"}, list, func(w *registry.Info) []cell {
		return []cell{
			state(map[bool]string{true: "alive", false: "gone"}[w.Alive]), words(w.Name), words(w.Host), {Text: fmt.Sprint(w.PID), Number: true}, {Meter: &meter{min(w.InFlight, w.Concurrency), w.Concurrency}, Text: fmt.Sprintf("%d of %d", w.InFlight, w.Concurrency), Number: true},
			words(strings.Join(w.Queues, ", ")), words(strings.Join(w.Topics, ", ")), at(w.Heartbeat), at(w.Started), words(w.Version),
		}
	})
}
