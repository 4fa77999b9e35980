package nemesis

import (
	"fmt"
	"slices"
)

// All are the faults there are.
func All() []Fault {
	return slices.Concat(processFaults(), connectionFaults(), poolerFaults(), databaseFaults(), diskFaults(), serverFaults(), clockFaults(), rewindFaults())
}

// Where says which faults are possible and allowed.
type Where struct {
	Engine Engines
	Harm   bool // others who use the server may notice
	Owned  bool // the server is one that can be stopped and replaced
	Clock  bool // its clock can be stepped
	Small  bool // the disk is one that may be filled
	WAL    bool // the server's write-ahead log is on one that may be filled
}

// allows reports whether a fault is possible and allowed.
func (at Where) allows(f Fault) bool {
	engine := f.Engines == 0 || f.Engines&at.Engine != 0
	return engine && (at.Harm || !f.Harms) && (at.Owned || !f.Owned) && (at.Clock || !f.Clock) && (at.Small || !f.Small) && (at.WAL || !f.WAL)
}

// Choose returns the faults that are possible and allowed, and only those that are named if
// any are.
func Choose(at Where, names []string) ([]Fault, error) {
	all := All()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(f Fault) bool { return f.Name == name }) {
			return nil, fmt.Errorf("no fault is called %q", name)
		}
	}
	some := slices.DeleteFunc(all, func(f Fault) bool {
		return !at.allows(f) || len(names) > 0 && !slices.Contains(names, f.Name)
	})
	if len(some) == 0 {
		return nil, fmt.Errorf("none of the faults %q is possible and allowed here", names)
	}
	return some, nil
}
