package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// BacklogMessages counts the messages of the outbox by state, queue and topic. It reads
// the first runs of each lane, and the first messages of those for their topics: its
// bounds hold regardless of how much there is. A lane is read for its share of them, and
// for 100 of each at least. Failed messages are counted of all queues.
type BacklogMessages struct {
	engine.Rows[BacklogAmount]
	engine.Bounded
	Queues   []string // whose lanes are read; nil: all
	Runs     int64    // at most, of all lanes
	Messages int64
	Failed   int64 // of how many that failed the topic is read, and which are counted, at most
	Lanes    int64 // at most
}

// BacklogAmount is how many messages are in a state.
type BacklogAmount struct {
	State  string // ready, scheduled, put_back (later, although it was due), retrying, paused, in_flight, failed
	Queue  string
	Topic  string // "": the rest, which was not read for its topic
	N      int64
	Micros int64 // for which the oldest waits, of what could be claimed, is paused or put back; otherwise 0
	More   bool  // there may be more than was counted
}

// BacklogCounts counts what is due, overdue, failed or alive, each kind up to a bound: one row.
type BacklogCounts struct {
	engine.Rows[BacklogCount]
	engine.Bounded
	Age  time.Duration // since when something is due or expired to be counted as that, at least
	Most int64
}

// BacklogCount is how many there are of each kind. Micros are how long the first of them has been
// due or expired; 0: there is none.
type BacklogCount struct {
	MessagesFailed                                            int64
	JoinsPending, JoinsCompleted, JoinsFailed, JoinsCancelled int64
	TimersDue                                                 int64
	TimersDueMicros                                           int64
	TimersScheduled                                           int64
	TimersExpired                                             int64 // claimed under a lease that ended
	TimersExpiredMicros                                       int64
	JobsDue                                                   int64
	JobsDueMicros                                             int64
	QueuesPaused, TopicsPaused                                int64 // without those that are ending
	Workers                                                   int64 // that are alive
}
