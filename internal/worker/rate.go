package worker

import "time"

// rateSample is the shortest sample of a rate.
const rateSample = 20 * time.Millisecond

// rate is how many items finish per second, smoothed.
type rate struct {
	perSecond float64
	finished  int // since counted
	counted   time.Time
}

func (r *rate) sample(now time.Time) {
	elapsed := now.Sub(r.counted)
	if elapsed < rateSample {
		return
	}
	if !r.counted.IsZero() {
		r.perSecond = (r.perSecond + float64(r.finished)/elapsed.Seconds()) / 2
	}
	r.counted, r.finished = now, 0
}

// within returns how many items finish in a time.
func (r *rate) within(d time.Duration) float64 { return r.perSecond * d.Seconds() }
