package load

import (
	"encoding/json"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/outbox"

	"github.com/bravellian/pawl/torture/internal/history"
)

// Topics of messages.
const (
	topicPlain    = "plain"
	topicKeyed    = "keyed"
	topicFlaky    = "flaky"
	topicUnique   = "unique"
	topicMember   = "member"
	topicFollowUp = "follow-up"
	topicTimer    = "timer"
	topicJob      = history.JobTopic
	topicInbox    = "inbox"
	topicQueued   = "queued" // of the inbox's own queue
	topicRaw      = "raw"
	topicApprove  = "approve" // sends a flow a signal
	topicOver     = "over"    // follows a flow
)

// body is a message's payload.
type body struct {
	Place  int64  `json:"place,omitempty"`
	Name   string `json:"name,omitempty"` // of the join, or the inbox's source
	ID     string `json:"id,omitempty"`   // in the inbox
	Filler string `json:"filler,omitempty"`
}

func encode(b body) []byte {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return text
}

func decode(payload []byte) (b body, err error) {
	err = json.Unmarshal(payload, &b)
	return b, err
}

// retryPolicy tries again for ever, soon.
func retryPolicy() *outbox.RetryPolicy {
	return &outbox.RetryPolicy{Delay: func(failures int) time.Duration {
		return min(time.Duration(failures)*100*time.Millisecond, time.Second)
	}}
}

// Options are those of all processes.
func Options(log *slog.Logger, name string) pawl.Options {
	retry := retryPolicy()
	return pawl.Options{
		Logger: log, RetryLogLevel: slog.LevelDebug, Worker: name,
		Concurrency: 16, BatchSize: 50, Lease: Lease, PollInterval: 250 * time.Millisecond, Grace: 3 * time.Second,
		Retry: retry, MaxPollingInterval: time.Second, Inbox: inbox.Options{Lease: Lease, Retry: retry},
	}
}

// fails says whether an attempt fails: the same for a seed, whoever makes the attempt.
func (p *process) fails(id string, attempt int, probability float64) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	_, _ = h.Write([]byte{byte(attempt), byte(p.Seed), byte(p.Seed >> 8), byte(p.Seed >> 16)})
	const steps = 1000
	return float64(h.Sum64()>>8%steps) < probability*steps
}
