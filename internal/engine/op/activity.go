package op

import "github.com/bravellian/pawl/internal/engine"

// Activity is what one worker, or one session of programs that claim themselves, did with the messages of
// a topic in a minute, or what all did in an hour. Waits, Takes, Created and Errors are JSON arrays: see package activity.
type Activity struct {
	Grain     int64 // in minutes: 1 or 60
	Minute    int64 // in which it begins, since 1970
	Queue     string
	Topic     string
	Worker    [16]byte
	Done      int64
	Retried   int64
	Failed    int64
	Expired   int64
	Unhandled int64
	Waits     string
	Takes     string
	Created   string
	Errors    string `text:"any"`
}

// ActivityPut writes a row, in place of one with the same key.
type ActivityPut struct {
	engine.Changes
	Activity
}

// ActivityCount counts messages that a program claimed itself, as far as their owner holds them, and
// returns how many. It stands before the operation that settles them, in the same transaction, and adds
// to a row of its session. Topics beyond the first 200 of a minute have no name.
type ActivityCount struct {
	engine.Number
	Runs        []Held
	Outcome     string  // the column: done, retried, failed or expired
	Fingerprint *string `text:"any"` // of the error; nil: none
}

// ActivityList reads rows of a grain that begin at or after a minute and before another one, in the order of their keys.
type ActivityList struct {
	engine.Rows[Activity]
	engine.Bounded
	Grain int
	From  int64
	Until int64
	Queue *string // nil: any
	Topic *string // nil: any
	Most  int
}

// ActivityTrouble reads the last so many minutes of topics of which in that time an attempt failed, or a
// message had no handler.
type ActivityTrouble struct {
	engine.Rows[Activity]
	engine.Bounded
	Minutes int
	Most    int
}

// ActivityPurge deletes rows of a grain that begin before a minute, and returns how many.
type ActivityPurge struct {
	engine.Changes
	Grain  int
	Before int64
}

// ActivityExtent reads of which minutes there are rows; one row.
type ActivityExtent struct {
	engine.Rows[ActivitySpan]
}

// ActivitySpan has minutes in which rows begin; 0: there are none.
type ActivitySpan struct {
	FirstMinute int64
	FirstHour   int64
	LastHour    int64
}

// ActivityWaiting counts messages that did not end yet, by the minute in which they were enqueued: of
// the newest runs that are ready or claimed, those that were enqueued in a minute or later.
type ActivityWaiting struct {
	engine.Rows[ActivityAmount]
	engine.Bounded
	From     int64
	Queue    *string // nil: any
	Topic    *string // nil: any
	Runs     int64
	Messages int64
}

// ActivityAmount is how many messages of a topic were enqueued in a minute.
type ActivityAmount struct {
	Queue  string
	Topic  string
	Minute int64
	N      int64
	Micros int64 // for which the oldest has been there
	More   bool  // not all were read
}
