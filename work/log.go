package work

import (
	"log/slog"

	"github.com/bravellian/pawl/internal/logs"
)

// Logger is what a component logs with: the logger it was given or, if that is
// nil, slog.Default() for warnings and errors only.
func Logger(l *slog.Logger) *slog.Logger { return logs.Or(l) }

// errorLine is an error as it is logged: as much as is kept with an item, in one line.
func errorLine(err error) string { return logs.Line(ErrorText(err.Error())) }
