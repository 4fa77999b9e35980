package op

import "github.com/bravellian/pawl/internal/engine"

// JoinHold locks a join, so that nobody attaches to it or waits for it, and then messages where they
// are, until the transaction ends.
type JoinHold struct {
	engine.Changes
	JoinID [16]byte
	IDs    []int64 // of messages that exist
}

// JoinRedrive makes a failed join pending, without a deadline that has passed, and its waits
// replaced. It changes no row if the join has not failed.
type JoinRedrive struct {
	engine.Changes
	JoinID [16]byte
	Note   Note
}

// JoinMark takes failures of members of a join back (status 0), or counts pending ones as failed
// (status 2). It ends no join.
type JoinMark struct {
	engine.Changes `call:"outbox_join_mark"`
	JoinID         [16]byte
	IDs            []int64
	Status         int
}

// JoinStep is a member with the place of its message: 0 ready, 1 claimed, 2 done, 3 failed, 4
// discarded, 5 expired, -1 deleted.
type JoinStep struct {
	ID              int64
	OutboxMessageID [16]byte
	Status          int
	Place           int
	Redrives        int // of its message
}

// JoinUncompleted reads the members of a join that are not completed, by position.
type JoinUncompleted struct {
	engine.Rows[JoinStep]
	engine.Bounded
	JoinID [16]byte
}

// JoinWaiting is a wait of a join. Place is as in JoinStep.
type JoinWaiting struct {
	ID            int64
	Place         int
	Topic         *string // nil: it was deleted
	Queue         *string
	CorrelationID *string
	Payload       []byte
}

// JoinWaits reads the waits of a join that were not replaced, by position.
type JoinWaits struct {
	engine.Rows[JoinWaiting]
	engine.Bounded
	JoinID [16]byte
}
