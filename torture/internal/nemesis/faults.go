//go:build unix

package nemesis

import (
	"fmt"
	"slices"
)

// All are the faults there are.
func All() []Fault {
	return slices.Concat(processFaults(), connectionFaults(), databaseFaults(), serverFaults(), rewindFaults())
}

// Choose returns the faults of an engine that may be made: those that harm others only if
// that is allowed, and only those that are named if any are.
func Choose(postgres, harm bool, names []string) ([]Fault, error) {
	all := All()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(f Fault) bool { return f.Name == name }) {
			return nil, fmt.Errorf("no fault is called %q", name)
		}
	}
	return slices.DeleteFunc(all, func(f Fault) bool {
		return f.Engines == SQLite && postgres || f.Engines == Postgres && !postgres || f.Harms && !harm ||
			len(names) > 0 && !slices.Contains(names, f.Name)
	}), nil
}
