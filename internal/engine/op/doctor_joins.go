package op

import "github.com/bravellian/pawl/internal/engine"

func doctorJoins() []engine.Operation {
	return []engine.Operation{
		DoctorJoinHold{}, DoctorJoinLock{}, DoctorJoinMissed{}, DoctorJoinParked{}, DoctorJoinRecount{}, DoctorJoinSettle{}, DoctorJoinWake{}, DoctorJoins{},
	}
}

// DoctorJoin is what a join counts, and what its members say.
type DoctorJoin struct {
	JoinID           [16]byte
	ExpectedSteps    int64
	CompletedSteps   int64
	FailedSteps      int64
	Members          int64
	MembersCompleted int64
	MembersFailed    int64
	Missed           int64 // messages that are settled and not counted, of a pending join
}

// DoctorJoins reads joins of a status, highest id first.
type DoctorJoins struct {
	engine.Rows[DoctorJoin]
	Status      int
	Before      [16]byte // only ids below this one
	Most        int
	MostMembers int // of a join are looked at
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

// DoctorJoinHold holds messages where they are until the transaction ends.
type DoctorJoinHold struct {
	engine.Changes
	Missed []DoctorMissed
}

// DoctorJoinSettle counts what became of messages, which are held, in a join.
type DoctorJoinSettle struct {
	engine.Changes
	JoinID [16]byte
	Missed []DoctorMissed
	Note   Note
}

// DoctorJoinLock locks a join until the transaction ends: its counters and members stay
// as they are.
type DoctorJoinLock struct {
	engine.Changes
	JoinID [16]byte
}

// DoctorJoinRecount sets the counters of a join, which is locked, to what its members
// say. That may be the last step, and then it ends as it would have; one that is over
// stays as it is. It answers how many joins changed: 0 also where the members are more
// than the steps.
type DoctorJoinRecount struct {
	engine.Number
	JoinID [16]byte
	Note   Note
}

// DoctorParked is a parked wait.
type DoctorParked struct {
	Lo   int64
	Over *[16]byte // its join, if that is over
}

// DoctorJoinParked reads the waits that are parked without a deadline, by position.
type DoctorJoinParked struct {
	engine.Rows[DoctorParked]
	After int64 // only positions above this one
	Most  int
}

// DoctorJoinWake makes the waits of joins due at once, as far as those are over.
type DoctorJoinWake struct {
	engine.Changes
	JoinIDs [][16]byte
	Note    Note
}
