// Package op declares every operation of a database that a component calls: a struct with a
// field for each parameter, which embeds the type of its result. Its statement is in this
// folder if it is the same text on every engine, and otherwise in the engines' folders: see
// CONTRIBUTING.md.
package op

import (
	"embed"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
)

// Statements has the statements that are the same text on every engine, and the macros.
//
//go:embed activity audit declared doctor explain health inbox job join lease limit macros move outbox pause timer worker
var Statements embed.FS

// All returns all operations, each with zero fields.
func All() []engine.Operation {
	return slices.Concat(
		activities(), audit(), backlogs(), clocks(), declarations(), doctor(), doctorJoins(), doctorOrder(), explain(), fleet(), flows(), generations(), health(), inbox(), jobs(), joins(), leases(), limits(), moves(),
		outboxes(), settlements(), outboxReads(), outboxAdmin(), outboxBulks(), pauses(), timers(), workers(),
	)
}

// Note is what an operation records in the audit trail, where it changed anything. The zero
// value records nothing.
type Note struct {
	ID     *[16]byte // of the action, which may take several operations
	Actor  string    `text:"any"`
	Target string    `text:"any"`
	Reason *string   `text:"any"`
}
