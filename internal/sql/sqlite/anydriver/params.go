package anydriver

import "github.com/bravellian/pawl/internal/engine"

// Several statements have the same parameters and the same kind of result. Each is a type of its own,
// whose name is that of its file.
type (
	byID struct {
		engine.Changes
		ID int64
	}
	byLo struct {
		engine.Changes
		Lo int64
	}
	// byRange is ids Lo … End (exclusive).
	byRange struct {
		engine.Changes
		Lo, End int64
	}
	byJoin struct {
		engine.Changes
		JoinID [16]byte
	}
	byMember struct {
		engine.Changes
		member
	}
	// byMemberID has the position that the message's id carries.
	byMemberID struct {
		engine.Changes
		member
		ID int64
	}
	byKind struct {
		engine.Changes
		Kind, Name string
	}
	ofRun struct {
		engine.Changes
		runOf
	}
	ofLane struct {
		engine.Rows[run]
		Lane int64
	}
	ofKey struct {
		engine.Rows[position]
		Lane int64
		Key  string
	}
)
