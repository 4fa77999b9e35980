// Package view is how messages, joins, timers, jobs and what else operators see look as JSON: on
// the command line and in the dashboard. What has no view here (a run, a lease, an entry of the
// audit trail, an explanation) looks as its own package has it.
package view

import (
	"encoding/hex"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Message is a message as JSON. Where the names of "pawl enqueue
// --format=envelope" fit they are used.
type Message struct {
	outbox.Info
	PayloadBytes int     `json:"payload_bytes"`
	Payload      *string `json:"payload,omitempty"` // if it is text; payload_base64 otherwise
}

// OfMessage is a message as JSON, with its payload or only the size of it.
func OfMessage(i *outbox.Info, withPayload bool) Message {
	v := Message{Info: *i, PayloadBytes: len(i.Payload)}
	if text := string(i.Payload); withPayload && utf8.ValidString(text) {
		v.Payload = &text
	}
	if !withPayload || v.Payload != nil {
		v.Info.Payload = nil
	}
	if v.Status != outbox.Ready {
		v.NextAttemptAt = time.Time{}
	}
	v.Status, v.Headers = MessageStatus(i), Headers(i.Headers)
	return v
}

// MessageStatus is a message's state as lists are filtered by it: one that is due
// later is scheduled or, after a failed attempt, retrying.
func MessageStatus(i *outbox.Info) outbox.Status {
	switch later := i.Status == outbox.Ready && i.NextAttemptAt.After(time.Now()); {
	case later && i.RetryCount > 0:
		return outbox.Retrying
	case later:
		return outbox.Scheduled
	}
	return i.Status
}

// Story is a message with its failed attempts as JSON.
type Story struct {
	Message
	Attempts []acts.Attempt `json:"attempts,omitempty"`
}

// OfStory is a message with its payload and its failed attempts as JSON.
func OfStory(i *outbox.Info, attempts []acts.Attempt) Story {
	return Story{OfMessage(i, true), attempts}
}

// Timer is a timer as JSON.
type Timer struct {
	timer.Info
	PayloadBytes *int `json:"payload_bytes,omitempty"` // of a fired one its message tells
}

// OfTimer is a timer as JSON, without its payload.
func OfTimer(i *timer.Info) Timer {
	v := Timer{Info: *i}
	v.Payload, v.Headers = nil, Headers(i.Headers)
	if i.Status != timer.Scheduled {
		v.NextAttemptAt = time.Time{}
	}
	if size := len(i.Payload); i.Status != timer.Fired {
		v.PayloadBytes = &size
	}
	return v
}

// Job is a job as JSON.
type Job struct {
	job.Info
	State         string  `json:"state"`
	SpreadSeconds float64 `json:"spread_seconds"`
	PayloadBytes  int     `json:"payload_bytes"`
}

// OfJob is a job as JSON, without its payload.
func OfJob(i *job.Info) Job {
	v := Job{Info: *i, State: JobState(i), SpreadSeconds: i.Spread.Seconds(), PayloadBytes: len(i.Payload)}
	v.Payload, v.Headers = nil, Headers(i.Headers)
	return v
}

// JobState is a job's state in a word.
func JobState(i *job.Info) string {
	switch {
	case !i.Enabled:
		return "disabled"
	case i.LastError != "":
		return "broken"
	}
	return "enabled"
}

// Inbox is a message of the inbox as JSON.
type Inbox struct {
	inbox.Info
	Hash string `json:"hash,omitempty"` // hexadecimal
}

// OfInbox is a message of the inbox as JSON.
func OfInbox(m *inbox.Info) Inbox { return Inbox{*m, hex.EncodeToString(m.Hash)} }
