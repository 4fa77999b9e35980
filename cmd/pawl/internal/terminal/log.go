package terminal

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Log is a slog handler for people who watch: short lines, the error last.
type Log struct {
	w     io.Writer
	level slog.Leveler
	attrs []slog.Attr
}

// NewLog returns a handler that writes one line for every record to w.
func NewLog(w io.Writer, level slog.Leveler) *Log { return &Log{w: w, level: level} }

// Enabled reports whether records of a level are shown.
func (l *Log) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level.Level() }

// Handle shows a record.
func (l *Log) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	fmt.Fprintf(&line, "%s %s", r.Time.Format("15:04:05"), r.Message)
	var cause string
	show := func(a slog.Attr) bool {
		switch a.Key {
		case "error":
			cause = a.Value.String()
		case "stack": // for a log file
		default:
			fmt.Fprintf(&line, " %s=%v", a.Key, a.Value)
		}
		return true
	}
	for _, a := range l.attrs {
		show(a)
	}
	r.Attrs(show)
	if cause != "" {
		line.WriteString(": " + cause)
	}
	_, err := io.WriteString(l.w, Clean(line.String())+"\n")
	return err
}

// WithAttrs returns a handler that shows attrs with every record.
func (l *Log) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Log{l.w, l.level, append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)}
}

// WithGroup ignores the group: nothing here uses one.
func (l *Log) WithGroup(string) slog.Handler { return l }
