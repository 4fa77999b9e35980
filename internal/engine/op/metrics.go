package op

import "github.com/bravellian/pawl/internal/engine"

func metrics() []engine.Operation { return []engine.Operation{MetricsBacklog{}, MetricsState{}} }

// MetricsBacklog tells what lies in the outbox by state, queue and topic, from looks
// that are bounded however much there is: at the first runs of each lane, and at the
// first messages of those for their topics.
type MetricsBacklog struct {
	engine.Rows[MetricsAmount]
	Runs     int64 // to look at in all
	Messages int64
	Lanes    int64 // at most
}

// MetricsAmount is how many messages are in a state.
type MetricsAmount struct {
	State  string // ready, scheduled, paused, in_flight, failed
	Queue  string
	Topic  *string // nil: the rest, which was not looked at for its topic
	N      int64
	Micros *int64 // for which the oldest waits, of what could be claimed or is paused
	More   bool   // there may be more than was counted
}

// MetricsState counts joins, timers, pauses and living workers.
type MetricsState struct {
	engine.Rows[MetricsCount]
	Most int64 // as far as each is counted
}

// MetricsCount is how many there are of something.
type MetricsCount struct {
	What  string // joins, timers, pauses, workers
	Which string // a join's status; due or scheduled; a pause's kind
	N     int64
}
