package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// pauseTopic is what the topic of the message that pauses a topic begins with; the rest is the
// topic to pause. The message is that of a timer, with the key timerKey followed by the topic.
const pauseTopic = "pawl.webhook.pause/"

// timerKey is what the key of the timer begins with that pauses a topic.
const timerKey = "webhook/"

// actor is who pauses topics, in the audit trail.
const actor = "webhook sink"

const (
	// checkEvery is how long a process relies on what it knows of a topic's timer. Other
	// processes schedule and cancel it, too.
	checkEvery = time.Minute
	// circuitTime bounds what one attempt waits for the database.
	circuitTime = 5 * time.Second
	// maxCircuits is how many topics a process remembers.
	maxCircuits = 10_000
	// recentDone is how many messages that are done are read before a topic is paused.
	recentDone = 100
)

// circuits pause topics whose endpoints fail. There is a timer while deliveries fail, which
// pauses the topic when it is due, and is cancelled by the first delivery that succeeds. So the
// time goes on while no process runs, and all processes share it.
type circuits struct {
	sink *Sink

	mu  sync.Mutex
	all map[circuitKey]*circuit
}

// circuitKey is a topic of a store.
type circuitKey struct{ store, topic string }

// circuit is what this process knows of a topic.
type circuit struct {
	mu       sync.Mutex
	known    time.Time // when the database was last asked or changed; zero: never
	pending  bool      // there was a timer then
	failing  time.Time // the first failure since the last success here; zero: none
	last     string    // the last failure
	canceled time.Time // when this process last cancelled the timer
}

// pause is the payload of the timer's message.
type pause struct {
	Since time.Time `json:"since"`
	Error string    `json:"error"` // of the first failure
}

// of returns the circuit of a topic.
func (c *circuits) of(store, topic string) *circuit {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := circuitKey{store, topic}
	one := c.all[key]
	if one == nil {
		if len(c.all) >= maxCircuits {
			clear(c.all) // what they know can be read again
		}
		one = &circuit{}
		c.all[key] = one
	}
	return one
}

// locked returns the database of a message and the circuit of its topic, for the caller to unlock.
func (c *circuits) locked(ctx context.Context, topic string) (place, *circuit) {
	in := c.sink.in(ctx)
	one := c.of(in.store, topic)
	one.mu.Lock()
	return in, one
}

// every is how long a circuit relies on what it knows.
func (c *circuits) every() time.Duration { return min(checkEvery, c.sink.opts.PauseAfter) }

// failed notes that a delivery failed, and schedules the timer if there is none.
func (c *circuits) failed(ctx context.Context, m *outbox.Message, cause error) {
	if c.sink.opts.PauseAfter < 0 {
		return
	}
	in, one := c.locked(ctx, m.Topic)
	defer one.mu.Unlock()
	now := c.sink.now()
	one.last = cause.Error()
	if one.failing.IsZero() {
		one.failing = now
	}
	if now.Sub(one.known) < c.every() && (one.pending || now.Sub(one.canceled) < c.every()) {
		return // a timer is there; or was cancelled just now, and comes back if this goes on
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), circuitTime)
	defer cancel()
	if err := c.schedule(ctx, in, m, one); err != nil {
		c.sink.log.WarnContext(ctx, "could not schedule the pause of a webhook's topic", "topic", m.Topic, "error", err)
		return
	}
	one.known, one.pending = now, true
}

// schedule makes the timer of a topic unless there is one.
func (c *circuits) schedule(ctx context.Context, in place, m *outbox.Message, one *circuit) error {
	_, err := in.Timers.GetKey(ctx, timerKey+m.Topic)
	if !errors.Is(err, timer.ErrNotFound) {
		return err
	}
	payload, err := json.Marshal(pause{one.failing.UTC(), one.last})
	if err != nil {
		return err
	}
	due := one.failing.Add(c.sink.opts.PauseAfter)
	_, err = in.Timers.Schedule(ctx, timer.Timer{Key: timerKey + m.Topic, Topic: pauseTopic + m.Topic, Due: due, Payload: payload, Queue: m.Queue})
	if err == nil {
		c.sink.log.InfoContext(ctx, "a webhook fails, its topic is paused unless one succeeds", "topic", m.Topic, "due", due)
	}
	return err
}

// succeeded notes that a delivery succeeded, and cancels the timer if there is one. It asks the
// database once a minute at most.
func (c *circuits) succeeded(ctx context.Context, m *outbox.Message) {
	if c.sink.opts.PauseAfter < 0 {
		return
	}
	in, one := c.locked(ctx, m.Topic)
	defer one.mu.Unlock()
	now := c.sink.now()
	one.failing = time.Time{}
	if now.Sub(one.known) < c.every() && !one.pending {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), circuitTime)
	defer cancel()
	if err := c.cancel(ctx, in, m.Topic, one); err != nil {
		c.sink.log.WarnContext(ctx, "could not cancel the pause of a webhook's topic", "topic", m.Topic, "error", err)
		return
	}
	one.known, one.pending = now, false
}

// cancel cancels the timer of a topic. It reads first: mostly there is none.
func (c *circuits) cancel(ctx context.Context, in place, topic string, one *circuit) error {
	switch _, err := in.Timers.GetKey(ctx, timerKey+topic); {
	case errors.Is(err, timer.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	one.canceled = c.sink.now()
	_, err := in.Timers.CancelKey(audit.Own(ctx), timerKey+topic)
	return err
}

// gone pauses a topic whose endpoint says that it is gone.
func (c *circuits) gone(ctx context.Context, m *outbox.Message, cause error) {
	in := c.sink.in(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), circuitTime)
	defer cancel()
	if err := c.pause(ctx, in, m.Topic, cause.Error()); err != nil {
		c.sink.log.WarnContext(ctx, "could not pause the topic of a webhook", "topic", m.Topic, "error", err)
	}
}

// fire handles the message of a timer: it pauses the topic, unless a message was delivered
// since the timer was made. The process that delivered it may have known of no timer.
func (c *circuits) fire(ctx context.Context, m *outbox.Message) error {
	if c.sink.opts.PauseAfter < 0 {
		return nil // the timer is of a time when topics were paused
	}
	topic := m.Topic[len(pauseTopic):]
	var first pause
	if err := json.Unmarshal(m.Payload, &first); err != nil {
		return errors.New("no message of a webhook's timer")
	}
	in := c.sink.in(ctx)
	since := first.Since
	if t, err := in.Timers.Get(ctx, m.ID); err == nil {
		since = t.CreatedAt // by the clock of the database, as the time of a delivery is
	}
	// Among the newest messages alone: the topic may be one of few among millions.
	done, _, err := in.Outbox.Operator(access.Key{}).ListSome(ctx, outbox.ListOptions{Topic: topic, Status: outbox.Done, NoPayload: true}, 0, recentDone)
	if err != nil {
		return err
	}
	for i := range done {
		if done[i].ProcessedAt.After(since) {
			c.sink.log.InfoContext(ctx, "a webhook was delivered again, its topic is not paused", "topic", topic)
			c.restart(in, topic)
			return nil
		}
	}
	last := cmp.Or(c.restart(in, topic), first.Error)
	return c.pause(ctx, in, topic, fmt.Sprintf("no webhook was delivered since %s: %s", first.Since.UTC().Format(time.RFC3339), last))
}

// restart lets a circuit begin anew, and returns its last failure, "" if it has none.
func (c *circuits) restart(in place, topic string) (last string) {
	one := c.of(in.store, topic)
	one.mu.Lock()
	defer one.mu.Unlock()
	last = one.last
	one.known, one.pending, one.failing, one.last, one.canceled = time.Time{}, false, time.Time{}, "", time.Time{}
	return last
}

// pause pauses a topic, for an operator to resume. What the sink no longer needs is a timer.
func (c *circuits) pause(ctx context.Context, in place, topic, reason string) error {
	ctx = admin.WithActor(ctx, actor)
	if _, err := in.Admin.Pause(ctx, admin.Topic, topic, cut(reason)); err != nil {
		return err
	}
	one := c.of(in.store, topic)
	one.mu.Lock()
	defer one.mu.Unlock()
	err := c.cancel(ctx, in, topic, one)
	// Deliveries that are under way fail after this. They are no new beginning.
	one.known, one.pending, one.failing, one.canceled = c.sink.now(), false, time.Time{}, c.sink.now()
	return err
}

// cut returns what fits into a reason.
func cut(text string) string {
	const most = 1000
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
