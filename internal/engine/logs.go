package engine

import (
	"context"
	"log/slog"
	"strings"
)

// What components log is listed in docs/logs.md.

// Logger returns the logger that a component was given or, if that is nil, slog.Default()
// for warnings and errors only: a library must not write a line per item to its host's log
// by default.
func Logger(l *slog.Logger) *slog.Logger {
	if l != nil {
		return l
	}
	return slog.New(warnOnly{slog.Default().Handler()})
}

type warnOnly struct{ slog.Handler }

func (q warnOnly) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

func (q warnOnly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnOnly{q.Handler.WithAttrs(attrs)}
}

func (q warnOnly) WithGroup(name string) slog.Handler { return warnOnly{q.Handler.WithGroup(name)} }

// Line returns a text in one line: joined errors, and those of programs, may have several.
func Line(text string) string { return strings.Join(strings.Fields(text), " ") }
