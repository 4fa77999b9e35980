package nemesis

import (
	"context"
	"time"

	"github.com/bravellian/pawl/torture/internal/history"
	"github.com/bravellian/pawl/torture/internal/load"
)

// processFaults are those of processes.
func processFaults() []Fault {
	return []Fault{
		{Name: "kill", Track: Processes, Do: func(_ context.Context, w *World, s Step) error {
			w.slot(s).Kill()
			return nil
		}},
		{Name: "kill-all", Track: Processes, Do: func(_ context.Context, w *World, _ Step) error {
			for _, slot := range w.Crew.Slots {
				slot.Kill()
			}
			return nil
		}},
		{Name: "term", Track: Processes, Do: func(_ context.Context, w *World, s Step) error {
			w.slot(s).Terminate()
			return nil
		}},
		{Name: history.Stop, Track: Processes, Low: load.Lease + load.Lease/4, High: 3 * load.Lease, Do: pause},
		{Name: history.StopBriefly, Track: Processes, Low: 100 * time.Millisecond, High: load.Lease, Do: pause},
	}
}

func pause(ctx context.Context, w *World, s Step) error {
	slot := w.slot(s)
	if !slot.Pause(s.process) {
		return nil // it has ended since
	}
	defer slot.Continue()
	wait(ctx, s.Hold)
	return nil
}
