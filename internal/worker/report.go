package worker

import (
	"context"
	"errors"
	"log/slog"
)

// What is logged about attempts that did not succeed (OBX-105, D-117).

// reportFailure logs a handler's error and whether and when the item is retried.
func (l *Loop[M]) reportFailure(t *task[M], policy RetryPolicy, err error, r *result) {
	log := l.cfg.Logger
	if p := (*PanicError)(nil); errors.As(err, &p) {
		log = log.With("stack", string(p.Stack))
	}
	level, attempt := slog.LevelError, t.item.Retry+1
	final := r.outcome == failedForGood
	switch {
	case !final:
		level = l.cfg.RetryLogLevel.Level()
	case t.started.IsZero(): // this attempt was not made
		attempt = t.item.Retry
	}
	log.Log(context.Background(), level, "handler failed", "topic", t.item.Topic, "message_id", t.item.MessageID.String(),
		"attempt", attempt, "of", policy.MaxAttempts, "retry_in", r.delay, "final", final, "error", errorLine(err))
}

// reportRetryAfter logs that a handler said when the next attempt may begin.
func (l *Loop[M]) reportRetryAfter(t *task[M], policy RetryPolicy, err error, r *result) {
	if !l.infoEnabled() {
		return
	}
	l.cfg.Logger.Info("handler asked for another attempt", "topic", t.item.Topic, "message_id", t.item.MessageID.String(),
		"attempt", t.item.Retry+1, "of", policy.MaxAttempts, "counted", !r.uncounted, "retry_in", r.delay, "error", errorLine(err))
}

// reportSnooze logs that a handler put its item back, which counts as no attempt.
func (l *Loop[M]) reportSnooze(t *task[M], snooze *snoozeError) {
	if snooze.notStarted || !l.infoEnabled() {
		return
	}
	l.cfg.Logger.Info("handler put its message off", "topic", t.item.Topic, "message_id", t.item.MessageID.String(), "attempt", t.item.Retry+1, "retry_in", snooze.delay)
}

// infoEnabled reports whether lines at level Info are logged.
func (l *Loop[M]) infoEnabled() bool {
	return l.cfg.Logger.Enabled(context.Background(), slog.LevelInfo)
}
