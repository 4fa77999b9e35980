package sqlserver

import (
	"io/fs"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// unfit are the common statements that are no T-SQL, and need a text of the engine's own.
func unfit() []string {
	return []string{"doctor/runs", "join/start", "join/wait", "outbox/next_due", "worker/beat"}
}

// missing reports whether an operation has no statement yet: it is answered by
// errors.ErrUnsupported. Missing must be empty when the engine is complete.
func missing(o engine.Operation) bool {
	if tuned(o) {
		return false
	}
	name := engine.NameOf(o)
	if has(files, name) {
		return false
	}
	return !has(op.Statements, name) || slices.Contains(unfit(), name)
}

func has(files fs.FS, name string) bool {
	_, err := fs.Stat(files, name+".sql")
	return err == nil
}

// Missing are the operations that have no statement yet.
func Missing() (names []string) {
	for _, o := range op.All() {
		if missing(o) {
			names = append(names, engine.NameOf(o))
		}
	}
	return names
}
