package worker

import (
	"github.com/bravellian/pawl/internal/engine"
)

// errorLine is an error as it is logged: as much as is kept with an item, in one line.
func errorLine(err error) string { return engine.Line(ErrorText(err.Error())) }
