package engine

import (
	"context"
	"log/slog"
	"strings"
)

// What components have in common when they log. What they log is listed in
// docs/logs.md.

// Logger returns the logger that a component was given or, if that is nil,
// slog.Default() for warnings and errors only. A library must not fill its host's
// log with a line per item unless it was asked to.
func Logger(l *slog.Logger) *slog.Logger {
	if l != nil {
		return l
	}
	return slog.New(quiet{slog.Default().Handler()})
}

type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }

// Line puts a text into one line: errors that were joined, and those of programs,
// may have several.
func Line(text string) string { return strings.Join(strings.Fields(text), " ") }
