// Package inbox makes effects of at-least-once deliveries happen exactly once. A broker, a
// webhook or another service may deliver a message any number of times; the inbox records which
// ones were processed, by source and message id.
//
// Once is the usual call: it takes the message, runs a function and marks the message as done,
// all in one transaction, so that the function's writes and the mark commit together or not at
// all. Attempt is for effects outside the database. Enqueue stores the message itself, to be
// handled by workers later.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/queue"
	"github.com/bravellian/pawl/internal/throttle"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

var (
	// ErrInProgress is returned when another delivery of the message is being processed. It
	// has to be delivered again later.
	ErrInProgress = errors.New("message is being processed")
	// ErrDead is returned when the message is dead; see Revive.
	ErrDead = errors.New("message is dead")
	// ErrHashMismatch is returned when a message of this id had other content.
	ErrHashMismatch = errors.New("message has another hash than at first")
	// ErrNotFound is returned when the message was never seen, or was deleted.
	ErrNotFound = errors.New("message not found in the inbox")
	// ErrTakenOver is returned when an attempt exceeded its lease and another owner has the
	// message now.
	ErrTakenOver = errors.New("message was taken over by another attempt")
)

// Options configure an inbox. The zero value is right for most programs.
type Options struct {
	// Retry is the policy of topics that have none of their own, and of Once and Attempt:
	// a message is dead after MaxAttempts failed attempts, never if that is 0. nil means
	// ten attempts, those of handlers with 1, 2, 4 … 60 s in between, ± 10 %.
	Retry *outbox.RetryPolicy
	// Lease is how long an attempt outside a transaction holds its message
	// without a heartbeat, default 1 minute, at least 1 s. It is extended while
	// the function runs.
	Lease time.Duration
	// Retention is how long messages are stored after they were done, default 30 days. A
	// duplicate that arrives later counts as new.
	Retention time.Duration
	// Queue is where Enqueue puts messages, default "inbox".
	Queue string
}

const (
	defaultLease     = time.Minute
	defaultRetention = 30 * 24 * time.Hour
)

// messages is the outbox of enqueued messages.
type messages interface {
	queue.Queue[outbox.Message, outbox.MessageID]
	Handle(topic string, h outbox.Handler, opts ...outbox.HandlerOptions)
	Limits() []throttle.Declared
	Use(mw ...outbox.Middleware)
	AddHeaders(f func(ctx context.Context, m *outbox.Message) map[string]string)
}

// Inbox is the inbox of one database. It is safe for concurrent use.
type Inbox struct {
	db       engine.DB
	opts     Options
	retry    worker.RetryPolicy
	log      *slog.Logger
	queue    *outbox.Outbox
	messages messages
	served   bool // a handler was registered
	// resumes says that an attempt that did not end is the same as the next one: the
	// queue knows whether it is to be counted.
	resumes bool
}

// New returns the inbox of a database, and what pawl.Pawl sees of it. workers configures the workers of
// its queue; Queues in it are ignored. Programs cannot name the first parameter: pawl.New calls it.
func New(_ access.Key, db engine.DB, opts Options, workers worker.Options) (*Inbox, component) { //nolint:revive // what is pawl's own has no public name
	if opts.Lease <= 0 {
		opts.Lease = defaultLease
	}
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	if opts.Queue == "" {
		opts.Queue = queue.Inbox
	}
	workers.Queues = []string{opts.Queue}
	retry := worker.DefaultRetryPolicy()
	if opts.Retry != nil {
		retry = worker.RetryPolicy(*opts.Retry)
	}
	o, messages := outbox.New(access.Key{}, db, workers)
	i := &Inbox{db: db, opts: opts, retry: retry, log: engine.Logger(workers.Logger), queue: o, messages: messages}
	return i, component{i}
}

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

// String returns "source/message id".
func (k Key) String() string { return fmt.Sprintf("%s/%s", k.Source, k.MessageID) }

func (k *Key) validate() error {
	if err := engine.CheckText("source", k.Source, limits.Source, true); err != nil {
		return err
	}
	if err := engine.CheckText("message id", k.MessageID, limits.MessageID, true); err != nil {
		return err
	}
	if len(k.Hash) > limits.Hash {
		return engine.TooLong("hash", limits.Hash, "bytes")
	}
	return nil
}

// hash returns nil for an empty hash: engines distinguish empty bytes from null.
func (k *Key) hash() []byte {
	if len(k.Hash) == 0 {
		return nil
	}
	return k.Hash
}

// op converts the key for operations.
func (k *Key) op() op.InboxKey { return op.InboxKey{Source: k.Source, MessageID: k.MessageID} }

// The results of operations on a delivery.
const (
	verdictTaken      = 1
	verdictDone       = 2
	verdictDead       = 3
	verdictMismatch   = 4
	verdictInProgress = 5
)

// errorOf returns the error of a result; nil for done messages.
func errorOf(k *Key, verdict int64) error {
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

// cleanUp deletes messages that were done longer ago than the retention period and returns how
// many. Dead ones and those that were never done stay. Run does this by itself.
func (i *Inbox) cleanUp(ctx context.Context) (int64, error) {
	return worker.Purge(ctx, i.db, op.InboxPurge{Age: i.opts.Retention, Most: cleanMessages})
}
