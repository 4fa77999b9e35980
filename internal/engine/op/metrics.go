package op

import "github.com/bravellian/pawl/internal/engine"

func metrics() []engine.Operation { return []engine.Operation{MetricsBacklog{}, MetricsState{}} }

// MetricsBacklog counts the messages of the outbox by state, queue and topic. Its cost is
// bounded however many there are: it reads the first runs of each lane and, for the topics,
// the first messages of those.
type MetricsBacklog struct {
	engine.Rows[MetricsAmount]
	Runs     int64 // how many are examined in all
	Messages int64
	Lanes    int64 // at most
}

// MetricsAmount is how many messages are in a state.
type MetricsAmount struct {
	State  string // ready, scheduled, paused, in_flight, failed
	Queue  string
	Topic  *string // nil: the rest, whose topics were not read
	N      int64
	Micros *int64 // how long the oldest has waited, of what could be claimed or is paused
	More   bool   // there may be more than was counted
}

// MetricsState counts joins, timers, pauses and live workers.
type MetricsState struct {
	engine.Rows[MetricsCount]
	Most int64 // the most counted of each
}

// MetricsCount is the number of something.
type MetricsCount struct {
	What  string // joins, timers, pauses, workers
	Which string // a join's status; due or scheduled; a pause's kind
	N     int64
}
