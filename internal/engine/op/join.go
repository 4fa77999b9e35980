package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Join is a join as it is stored. Its status is 0 pending, 1 completed, 2 failed or 3
// cancelled.
type Join struct {
	JoinID         [16]byte
	GroupingKey    *string
	ExpectedSteps  int
	CompletedSteps int
	FailedSteps    int
	Status         int
	CreatedUTC     time.Time
	LastUpdatedUTC time.Time
	Metadata       *string
	DeadlineUTC    *time.Time
	Overdue        bool // pending past its deadline
}

// JoinAttach makes messages members; those already settled are counted at once. It changes
// 0 rows if they are attached, 1 if the join is unknown, 1 + i if the ith message is
// unknown, 1 + i + how many there are if the ith is a wait of this join: then nothing was attached.
type JoinAttach struct {
	engine.Changes `call:"outbox_join_attach_all"`
	JoinID         [16]byte
	MessageIDs     [][16]byte
}

// JoinAttachNew makes messages members that the same transaction enqueued and that no other
// one can see.
type JoinAttachNew struct {
	engine.Changes `call:"outbox_join_attach_new"`
	JoinID         [16]byte
	Members        []JoinNewMember
}

// JoinNewMember is a message that was just enqueued.
type JoinNewMember struct {
	ID        int64
	MessageID [16]byte
}

// JoinCancel cancels a join if it is pending. It changes 0 rows if the join is
// unknown, 1 if it was cancelled, 2 if not.
type JoinCancel struct {
	engine.Changes `call:"act_join_cancel"`
	JoinID         [16]byte
	Note           Note
}

// JoinEnd ends a join if it is pending: as cancelled or, if its deadline has passed,
// as failed. It changes 0 rows if the join is unknown, 1 if it was ended, 2 if not.
type JoinEnd struct {
	engine.Changes `call:"outbox_join_end"`
	JoinID         [16]byte
	Status         int
}

// JoinForgive completes a failed join whose steps are all counted, for a wait that accepts
// failures.
type JoinForgive struct {
	engine.Changes
	JoinID [16]byte
}

// JoinGet reads a join. One row, or none.
type JoinGet struct {
	engine.Rows[Join]
	JoinID [16]byte
}

// JoinKnown reports whether a join exists, and locks it until the transaction ends. It
// changes one row if so.
type JoinKnown struct {
	engine.Changes `call:"outbox_join_known"`
	JoinID         [16]byte
}

// JoinList reads joins, highest id first.
type JoinList struct {
	engine.Rows[Join]
	Before [16]byte // only ids below this one
	Most   int
}

// JoinListGroup is JoinList of a grouping key, which has an index of its own.
type JoinListGroup struct {
	engine.Rows[Join]
	GroupingKey string
	Status      *int // nil: any
	Before      [16]byte
	Most        int
}

// JoinListStatus is JoinList of a status, which has an index of its own.
type JoinListStatus struct {
	engine.Rows[Join]
	Status int
	Before [16]byte
	Most   int
}

// JoinMembers reads members of a join by message id.
type JoinMembers struct {
	engine.Rows[JoinMember]
	engine.Bounded
	JoinID [16]byte
	Status *int     // nil: any
	After  [16]byte // only message ids above this one
	Most   int
}

// JoinMember is a member as it is stored. Its status is 0 pending, 1 completed or 2
// failed.
type JoinMember struct {
	OutboxMessageID [16]byte
	ID              int64
	Status          int
	CreatedUTC      time.Time
	Topic           *string // nil: the message was deleted after the join had ended
	Result          []byte  // nil or empty: none
}

// JoinOf reads the joins that a message is a step of, lowest id first.
type JoinOf struct {
	engine.Rows[Join]
	ID   int64
	Most int
}

// JoinPark parks a claimed wait until its join ends. If the join ended meanwhile the wait is
// due at once; so is a flow that is cancelled. It returns how many were parked: 0 if the lease is lost.
type JoinPark struct {
	engine.Number `call:"outbox_join_park"`
	JoinID        [16]byte
	Owner         [16]byte
	ID            int64
	Flow          bool // it may be cancelled by a signal
}

// JoinPurge deletes joins that ended longer ago than an age, among the oldest of each
// outcome, unless a wait is still to be handled. It returns how many.
type JoinPurge struct {
	engine.Number `call:"outbox_join_purge"`
	Age           time.Duration
	Most          int // how many of each outcome are examined; PostgreSQL examines more
}

// JoinReport counts a step by hand. It changes 0 rows if the join is unknown, 1 if the step
// was counted, 2 if it was counted before or the join has ended, 3 if the message is no
// member.
type JoinReport struct {
	engine.Changes `call:"outbox_join_report_step"`
	JoinID         [16]byte
	MessageID      [16]byte
	Status         int
}

// JoinResult is the result of a message that its owner is about to ack.
type JoinResult struct {
	Owner  [16]byte
	ID     int64
	Result []byte
}

// JoinResults stores results, in order of position, for every join of which their message is
// a member, in place of what is stored there. It holds the messages until the transaction
// ends, in which the ack follows, and ignores those that are not, or no longer, under their
// owner's lease. It returns how many results it stored.
type JoinResults struct {
	engine.Number `call:"outbox_join_results"`
	Results       []JoinResult
}

// JoinStart adds a join; a known id changes nothing.
type JoinStart struct {
	engine.Changes `call:"outbox_join_put"`
	JoinID         [16]byte
	GroupingKey    *string
	ExpectedSteps  int
	Metadata       *string
	DeadlineUTC    *time.Time
}

// JoinWait records where a join's wait lies: at the position ID, unless its message id came from a caller and
// is elsewhere.
type JoinWait struct {
	engine.Changes
	JoinID    [16]byte
	ID        int64
	MessageID [16]byte
}
