package op

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// Declared is a version of a program that declared jobs or limits.
type Declared struct {
	Version string
	At      time.Time // when it did first, after others
}

// DeclaredList reads the versions under an owner's name, the newest first.
type DeclaredList struct {
	engine.Rows[Declared]
	Owner string
}

// DeclaredAdd adds a version, which is the newest.
type DeclaredAdd struct {
	engine.Changes
	Owner, Version string
}

// DeclaredForget deletes a version, or all of them.
type DeclaredForget struct {
	engine.Changes
	Owner   string
	Version *string // nil: all
}
