package main

import (
	"log/slog"
	"time"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// timersCmd is "pawl timers".
type timersCmd struct {
	Ls     timersLsCmd     `cmd:"" aliases:"list" help:"List timers, next to fire first."`
	Add    timersAddCmd    `cmd:"" help:"Have a message delivered later."`
	Cancel timersCancelCmd `cmd:"" help:"Take timers back that have not fired."`
}

// Help is printed by --help.
func (*timersCmd) Help() string {
	return `A timer becomes a message of its topic when it is due. Until then it can be taken
back. "pawl work" fires timers, and so do programs that run pawl.`
}

// timers are the timers of an opened database.
func (s *store) timers() *timer.Timers {
	quiet := slog.New(slog.DiscardHandler)
	return timer.New(s, outbox.New(s, outbox.Options{Logger: quiet}), timer.Options{Logger: quiet})
}

// parseTimer reads the id of a timer.
func parseTimer(id string) (timer.ID, error) {
	parsed, err := outbox.ParseMessageID(id)
	if err != nil {
		return parsed, usage("%q is not the id of a timer: want a UUID", id)
	}
	return parsed, nil
}

// timerView is a timer as JSON.
type timerView struct {
	TimerID       timer.ID          `json:"timer_id"`
	Key           string            `json:"key,omitempty"`
	Status        string            `json:"status"`
	Due           time.Time         `json:"due"`
	Topic         string            `json:"topic"`
	Queue         string            `json:"queue"`
	Priority      int               `json:"priority"`
	CorrelationID string            `json:"correlation_id,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	CreatedAt     time.Time         `json:"created_at"`
	EndedAt       *time.Time        `json:"ended_at,omitempty"`
	RetryCount    int               `json:"retry_count"`
	NextAttemptAt *time.Time        `json:"next_attempt_at,omitempty"`
	LockedUntil   *time.Time        `json:"locked_until,omitempty"`
	OwnerToken    string            `json:"owner_token,omitempty"`
	LastError     string            `json:"last_error,omitempty"`
	PayloadBytes  *int              `json:"payload_bytes,omitempty"` // of a fired one its message tells
}

func viewTimer(i *timer.Info) timerView {
	v := timerView{
		TimerID: i.ID, Key: i.Key, Status: i.Status.String(), Due: i.Due, Topic: i.Topic, Queue: i.Queue, Priority: i.Priority,
		CorrelationID: i.CorrelationID, Headers: i.Headers, CreatedAt: i.CreatedAt, EndedAt: known(i.EndedAt), RetryCount: i.RetryCount,
		LockedUntil: known(i.LockedUntil), LastError: i.LastError,
	}
	if i.Status == timer.Scheduled {
		v.NextAttemptAt = &i.NextAttemptAt
	}
	if i.Status != timer.Fired {
		size := len(i.Payload)
		v.PayloadBytes = &size
	}
	if (i.Owner != outbox.OwnerToken{}) {
		v.OwnerToken = i.Owner.String()
	}
	return v
}
