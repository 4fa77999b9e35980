package worker

import (
	"sync"
	"testing"
)

// A loop that starts is never reported as running without an iteration, nor the other way
// around: it would count as one that hangs or has ended.
func TestALoopThatStartsIsAlive(t *testing.T) {
	for range 50_000 {
		var tracker LoopTracker
		var looking sync.WaitGroup
		looking.Go(func() {
			v := tracker.Status("")
			for !v.Running && v.LastTurn.IsZero() {
				v = tracker.Status("")
			}
			if !v.Running || v.LastTurn.IsZero() || v.NextTurn.IsZero() {
				t.Errorf("%+v", v)
			}
		})
		tracker.begin()
		if looking.Wait(); t.Failed() {
			return
		}
	}
}
