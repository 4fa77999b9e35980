// Package limits has the largest values that fields may have. The SQL routines check the
// same ones.
package limits

import "time"

// Of messages: characters, unless said otherwise.
const (
	Topic         = 255
	CorrelationID = 255
	Queue         = 255
	OrderingKey   = 255
	UniqueKey     = 255
	HeaderBytes   = 16 << 10 // bytes
	Payload       = 1 << 20  // bytes, the default
	Priority      = 100      // and as much below 0
)

// Of keys of the inbox.
const (
	Source    = 255 // characters
	MessageID = 255 // characters
	Hash      = 64  // bytes
)

// Of joins.
const (
	GroupingKey = 255      // characters
	Metadata    = 1 << 20  // bytes
	Result      = 64 << 10 // bytes, of a step
)

// FlowName is the limit of the names of flows, steps and signals, in characters.
const FlowName = 250

// TimerKey is the limit of a timer's key, in characters.
const TimerKey = 255

// Of jobs.
const (
	JobName  = 255            // characters
	JobOwner = 200            // characters
	Schedule = 256            // bytes, of a cron expression
	Misfires = 1000           // runs that are caught up
	Spread   = 24 * time.Hour // of the runs of a schedule
)

// Of operators' actions: characters.
const (
	Reason    = 1000
	PauseName = 255
)

// ProgressNote is the limit of what a handler says beside how far it is, in characters.
const ProgressNote = 255

// Explained is the limit of what "why has this not run" is asked about: a source and an id of the inbox, or
// anything shorter. Bytes.
const Explained = 4096

// Zone is the limit of a time zone's name, in bytes.
const Zone = 255

// StoreKey is the limit of a key in a fleet, in characters.
const StoreKey = 255

// InboxStuck is how long a message may be processed without a heartbeat before it counts
// as stuck.
const InboxStuck = time.Hour
