package op

import "github.com/bravellian/pawl/internal/engine"

// DoctorJoin has the counters of a join, and the same counted from its members.
type DoctorJoin struct {
	JoinID           [16]byte
	ExpectedSteps    int64
	CompletedSteps   int64
	FailedSteps      int64
	Members          int64
	MembersCompleted int64
	MembersFailed    int64
	Missed           int64 // of a pending join: messages that are settled and not counted
}

// DoctorJoins reads joins of a status, highest id first.
type DoctorJoins struct {
	engine.Rows[DoctorJoin]
	Status      int
	Before      [16]byte // only ids below this one
	Most        int
	MostMembers int // how many members of a join are examined
}

// DoctorMissed is a member whose message is settled, and which was not counted.
type DoctorMissed struct {
	ID              int64
	OutboxMessageID [16]byte
}

// DoctorJoinMissed reads the pending members of a pending join whose messages are
// settled, by position.
type DoctorJoinMissed struct {
	engine.Rows[DoctorMissed]
	JoinID [16]byte
	Most   int
}

// DoctorJoinHold locks messages until the transaction ends.
type DoctorJoinHold struct {
	engine.Changes
	Missed []DoctorMissed
}

// DoctorJoinSettle counts the outcomes of locked messages in a join.
type DoctorJoinSettle struct {
	engine.Changes
	JoinID [16]byte
	Missed []DoctorMissed
	Note   Note
}

// DoctorJoinLock locks a join, its counters and its members until the transaction ends.
type DoctorJoinLock struct {
	engine.Changes
	JoinID [16]byte
}

// DoctorJoinRecount sets the counters of a locked join to those counted from its members.
// That may be the last step, and then the join ends as usual; one that has ended stays
// unchanged. It returns how many joins changed: 0 also where there are more members than
// steps.
type DoctorJoinRecount struct {
	engine.Number
	JoinID [16]byte
	Note   Note
}

// DoctorParked is a parked wait.
type DoctorParked struct {
	Lo   int64
	Over *[16]byte // its join, if that has ended
}

// DoctorJoinParked reads the waits that are parked without a deadline, by position.
type DoctorJoinParked struct {
	engine.Rows[DoctorParked]
	After int64 // only positions above this one
	Most  int
}

// DoctorJoinWake makes the waits of joins that have ended due at once.
type DoctorJoinWake struct {
	engine.Changes
	JoinIDs [][16]byte
	Note    Note
}
