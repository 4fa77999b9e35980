package dbtest

import "time"

// WatchStalls measures for how long this process is not run, until it is asked for the
// longest time.
func WatchStalls() (longest func() time.Duration) {
	const beat = 50 * time.Millisecond
	stop, answer := make(chan struct{}), make(chan time.Duration)
	go func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		var gap time.Duration
		for last := time.Now(); ; last = time.Now() {
			select {
			case <-tick.C:
				gap = max(gap, time.Since(last))
			case <-stop:
				answer <- max(gap, time.Since(last))
				return
			}
		}
	}()
	return func() time.Duration { close(stop); return <-answer }
}
