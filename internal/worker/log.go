package worker

import (
	"github.com/bravellian/pawl/internal/engine"
)

// errorLine returns an error's text as it is logged: as much as is kept with an item, in one line.
func errorLine(err error) string { return engine.Line(ErrorText(err.Error())) }
