package worker

import (
	"sync"
	"testing"
)

// A loop that starts is never seen running without having gone round, nor
// the other way around: it would pass for one that hangs or has ended.
func TestALoopThatStartsIsAlive(t *testing.T) {
	for range 50_000 {
		var pulse Pulse
		var looking sync.WaitGroup
		looking.Go(func() {
			v := pulse.Vitals("")
			for !v.Running && v.LastTurn.IsZero() {
				v = pulse.Vitals("")
			}
			if !v.Running || v.LastTurn.IsZero() || v.NextTurn.IsZero() {
				t.Errorf("%+v", v)
			}
		})
		pulse.begin()
		if looking.Wait(); t.Failed() {
			return
		}
	}
}
