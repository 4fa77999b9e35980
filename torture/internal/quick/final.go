// Package check judges what happened in a round.
package quick

// Final is what the database says at the end of a round.
type Final struct {
	Ledger   []string          `json:"ledger"`   // ids of messages whose transaction committed
	Messages map[string]State  `json:"messages"` // by id
	Effects  map[string]int    `json:"effects"`  // effects of Inbox.Once, by source and id with a slash in between
	Guards   []Guard           `json:"guards"`   // what guarded transactions wrote, in the order of their writes
	Joins    map[string]Join   `json:"joins"`    // by id
	Timers   map[string]string `json:"timers"`   // status of each timer that is known, by id
	Runs     []JobRun          `json:"runs"`
	Limits   map[string]int    `json:"limits"` // concurrency of limited topics
	Rewinds  []Rewind          `json:"rewinds"`
}

// State is a message at the end.
type State struct {
	Topic    string `json:"topic"`
	Queue    string `json:"queue"`
	Status   int    `json:"status"` // 2: done, 3: failed
	Attempts int    `json:"attempts"`
}

// Guard is a row that a guarded transaction wrote.
type Guard struct {
	Name  string `json:"name"`
	Token int64  `json:"token"`
}

// Join is a join at the end.
type Join struct {
	Expected  int `json:"expected"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Status    int `json:"status"`  // 1: completed
	Members   int `json:"members"` // counted as completed
	Waits     int `json:"waits"`   // waits that have not fired
}

// JobRun is a run of a job.
type JobRun struct {
	Job     string `json:"job"`
	Nominal int64  `json:"nominal"` // ns
	Status  string `json:"status"`
	Missed  int64  `json:"missed"`
}

// Rewind is a time at which the database lost what was committed between two moments.
type Rewind struct {
	From int64 `json:"from"` // ns: everything that was committed before is there
	To   int64 `json:"to"`   // ns: so is everything that began later
}
