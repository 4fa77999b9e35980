// Package op declares every operation that a component asks of a database: a struct
// with a field for each parameter, which embeds what the operation answers. Its
// statement lies beside it if it is the same text on every engine, and otherwise in
// the engines' folders: see CONTRIBUTING.md.
package op

import (
	"embed"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
)

// Statements are those that are the same text on every engine, and the macros.
//
//go:embed audit doctor explain health inbox job join lease macros outbox pause timer worker
var Statements embed.FS

// All are all operations, each without values.
func All() []engine.Operation {
	return slices.Concat(
		audit(), backlogs(), clocks(), doctor(), doctorJoins(), explain(), fleet(), generations(), health(), inbox(), jobs(), joins(), leases(),
		outboxes(), settlements(), outboxReads(), outboxMends(), pauses(), timers(), workers(),
	)
}

// Note is what an operation leaves in the audit trail, where it changed anything.
// The zero value leaves none.
type Note struct {
	ID     *[16]byte // of the act, which may take several operations
	Actor  string
	Target string
	Reason *string
}
