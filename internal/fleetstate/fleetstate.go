// Package fleetstate is what a fleet knows of its stores, as the dashboard, the metrics and the
// command line read it. Programs read a health.Report.
package fleetstate

import (
	"errors"
	"time"
)

// State is the state of a store.
type State string

// The states of a store.
const (
	Idle    State = "idle"    // nothing is due; it is polled
	Waiting State = "waiting" // there is work, but all places are taken
	Active  State = "active"  // it is being worked on, or kept warm
	Failing State = "failing" // its database fails or does not answer
	// Elsewhere is the state of a store that only other processes work on: see fleet.Options.Share.
	// It is not polled here.
	Elsewhere State = "elsewhere"
)

// Store is what is known of a store.
type Store struct {
	Key         string
	Where       string // its URL without password
	State       State
	Error       string    // the last failure; "" if it is healthy
	Failures    int       // in a row
	LastSuccess time.Time // when its database last answered; zero: not yet
	NextPoll    time.Time // zero: it is being polled or worked on
}

// Fleet is what is known of a fleet.
type Fleet struct {
	Stores []Store // by key
	// Healthy is false if a store fails or the list of databases cannot be read.
	Healthy bool
	// Summary describes it in a sentence.
	Summary string
	// Connections and Handlers are in use; the others are the budgets.
	Connections, MaxConnections int
	Handlers, MaxHandlers       int
	// Share is with which processes the stores are shared; nil: they are not. A list that is
	// old is no failure.
	Share *Share
}

// Share is what a process knows about the others of its fleet.
type Share struct {
	Self    string   // the ID of this process
	Members []Member // by ID, this process included
	// Error is why the list is old: it could not be read since Read. The work goes on.
	Error string
	Read  time.Time // when the list was last read; zero: never
}

// Member is a process that works on a fleet.
type Member struct {
	// ID is what decides which stores the member has: unique among the members, and the same
	// for all of them.
	ID string
	// Process names it for people.
	Process string
}

// Migration is what became of the migration of a store.
type Migration struct {
	Key  string
	Err  error // nil: the schema is up to date
	Took time.Duration
}

// Migrate adjusts a migration of all stores.
type Migrate struct {
	// Parallel is how many stores are migrated at once, default 8.
	Parallel int
	// Canary is the key of the store to be migrated first and alone; "": the first by key. If it
	// fails, no other is touched.
	Canary string
	// Each is called for every store when it is done, one at a time.
	Each func(Migration)
}

// ErrCanary says that the first store could not be migrated, and so no other was touched.
var ErrCanary = errors.New("the canary could not be migrated, the other stores were left alone")
