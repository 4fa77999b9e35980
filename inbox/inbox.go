// Package inbox turns at-least-once delivery into effects exactly once. A broker,
// a webhook or another service may deliver a message any number of times; the
// inbox remembers which ones were dealt with, by source and message id.
//
// Once is the main door: it takes the message, runs a function and marks the
// message as done, all in one transaction, so that what the function wrote in it
// and the mark commit together or not at all. Attempt is for effects outside the
// database. Enqueue stores the message itself, to be handled by workers later.
package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

var (
	// ErrInProgress says that another delivery of the message is being processed
	// at this moment. Have it delivered again later.
	ErrInProgress = errors.New("message is being processed")
	// ErrDead says that the message was given up; see Revive.
	ErrDead = errors.New("message is dead")
	// ErrHashMismatch says that a message of this id came with other content.
	ErrHashMismatch = errors.New("message has another hash than at first")
	// ErrNotFound says that the message was never seen, or it was cleaned up.
	ErrNotFound = errors.New("message not found in the inbox")
	// ErrTakenOver says that an attempt lasted longer than its lease and somebody
	// else has the message now.
	ErrTakenOver = errors.New("message was taken over by another attempt")
)

// Limits of a key.
const (
	MaxSource    = 255 // characters
	MaxMessageID = 255 // characters
	MaxHash      = 64  // bytes
)

// Options configure an inbox. The zero value is right for most programs.
type Options struct {
	// MaxAttempts is after how many failed attempts a message is dead, default
	// 10; negative: never.
	MaxAttempts int
	// Lease is how long an attempt outside a transaction holds its message
	// without a heartbeat, default 1 minute, at least 1 s. It is extended while
	// the function runs.
	Lease time.Duration
	// Retention is how long messages are remembered after they were done,
	// default 30 days. A duplicate that comes later is taken for new.
	Retention time.Duration
	// Queue is where Enqueue puts messages, default "inbox".
	Queue string
	// Workers configures the workers of that queue; nil takes the defaults. Queues,
	// Retry and Logger in it do not matter.
	Workers *outbox.Options
	// Logger gets warnings and errors and, if set, what happens at INFO. nil means
	// slog.Default() for warnings and errors only.
	Logger *slog.Logger
}

const (
	defaultAttempts  = 10
	defaultLease     = time.Minute
	minLease         = time.Second
	defaultRetention = 30 * 24 * time.Hour
	defaultQueue     = "inbox"
)

// Validate returns an *InvalidError that names the first invalid field. pawl.New and Run call it.
func (o *Options) Validate() error {
	if o.Workers != nil {
		if err := o.Workers.Validate(); err != nil {
			return engine.InOptions("Workers", err)
		}
	}
	return cmp.Or(
		engine.CheckOption("Lease", o.Lease, minLease, 0), engine.CheckOption("Retention", o.Retention, 1, 0), engine.CheckText("Queue", o.Queue, outbox.MaxQueue, false),
	)
}

// Inbox is the inbox of one database. It is safe for concurrent use.
type Inbox struct {
	db     engine.DB
	opts   Options
	log    *slog.Logger
	queue  *outbox.Outbox
	served bool // a handler was registered
	stops  bool // when there is nothing left to do
	// resumes says that an attempt that did not end is the same as the next one: the
	// queue knows whether it is to be counted.
	resumes bool

	cleaning *worker.LoopTracker
	invalid  error // of the options
}

// New returns the inbox of a database, which must be migrated before use. Options
// that cannot be are reported by Run.
func New(db engine.DB, opts Options) *Inbox {
	invalid := opts.Validate()
	if opts.MaxAttempts == 0 {
		opts.MaxAttempts = defaultAttempts
	}
	if opts.Lease <= 0 {
		opts.Lease = defaultLease
	}
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	if opts.Queue == "" {
		opts.Queue = defaultQueue
	}
	var w outbox.Options
	if opts.Workers != nil {
		w = *opts.Workers
	}
	w.Queues, w.Logger = []string{opts.Queue}, opts.Logger
	// The inbox counts attempts and says when a message is dead.
	w.Retry = &outbox.RetryPolicy{Jitter: 0.1}
	return &Inbox{db: db, opts: opts, log: engine.Logger(opts.Logger), queue: outbox.New(db, w), stops: w.StopWhenEmpty, cleaning: &worker.LoopTracker{}, invalid: invalid}
}

// maxAttempts is as the operations take it: 0 for any number.
func (i *Inbox) maxAttempts() int { return max(i.opts.MaxAttempts, 0) }

// Key identifies a message.
type Key struct {
	// Source is who sent it: a broker, a service. 1–255 characters of any script.
	Source string `json:"source"`
	// MessageID is the sender's id of the message, unique within the source:
	// 1–255 characters of any script.
	MessageID string `json:"message_id"`
	// Hash of the content, at most 64 bytes; nil if it does not matter. A second
	// delivery with another hash is ErrHashMismatch, never taken for a duplicate.
	Hash []byte `json:"hash,omitempty"`
}

// String names the message.
func (k Key) String() string { return fmt.Sprintf("%s/%s", k.Source, k.MessageID) }

func (k *Key) validate() error {
	if err := engine.CheckText("source", k.Source, MaxSource, true); err != nil {
		return err
	}
	if err := engine.CheckText("message id", k.MessageID, MaxMessageID, true); err != nil {
		return err
	}
	if len(k.Hash) > MaxHash {
		return engine.TooLong("hash", MaxHash, "bytes")
	}
	return nil
}

// hash is nil where there is none: engines tell empty bytes from none.
func (k *Key) hash() []byte {
	if len(k.Hash) == 0 {
		return nil
	}
	return k.Hash
}

// op is the key as operations take it.
func (k *Key) op() op.InboxKey { return op.InboxKey{Source: k.Source, MessageID: k.MessageID} }

// What the operations answer about a delivery.
const (
	verdictTaken      = 1
	verdictDone       = 2
	verdictDead       = 3
	verdictMismatch   = 4
	verdictInProgress = 5
)

// judge turns an answer into an error; done messages are none.
func judge(k *Key, verdict int64) error {
	switch verdict {
	case verdictDead:
		return fmt.Errorf("%w: %s", ErrDead, k)
	case verdictMismatch:
		return fmt.Errorf("%w: %s", ErrHashMismatch, k)
	case verdictInProgress:
		return fmt.Errorf("%w: %s", ErrInProgress, k)
	}
	return nil
}

// cleanMessages bounds one transaction of the clean-up.
const cleanMessages = 1000

// CleanUp deletes messages that were done longer ago than the retention period
// and returns how many. Dead ones and those that were never done stay. Run does
// this by itself.
func (i *Inbox) CleanUp(ctx context.Context) (int64, error) {
	return worker.Purge(ctx, i.db, op.InboxPurge{Age: i.opts.Retention, Most: cleanMessages})
}
