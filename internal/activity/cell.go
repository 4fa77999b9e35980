package activity

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/fingerprint"
	"github.com/bravellian/pawl/internal/worker"
)

// cell has the numbers of a topic in a minute.
type cell struct {
	Totals
	id      uuid.UUID // of the row
	changes int64
	written int64 // changes that are in the database
}

// Totals are what became of messages and attempts.
type Totals struct {
	Done      int64 `json:"done"`      // messages handled
	Retried   int64 `json:"retried"`   // attempts that failed, with another one to come
	Failed    int64 `json:"failed"`    // messages that failed for good
	Expired   int64 `json:"expired"`   // messages that ended without an attempt
	Unhandled int64 `json:"unhandled"` // times that messages were put back for want of a handler
	// Waits are those of first attempts, from when the message was due to when they began, and
	// Takes how long attempts ran.
	Waits Histogram `json:"waits,omitzero"`
	Takes Histogram `json:"takes,omitzero"`
	// Created are the minutes in which messages were enqueued that ended meanwhile: done, failed
	// or expired.
	Created map[int64]int64 `json:"-"`
	// Errors are why attempts failed, by fingerprint: the commonest few.
	Errors map[string]int64 `json:"errors,omitempty"`
}

// maxErrors is of how many different errors a row has the number.
const maxErrors = 5

// add counts an attempt; wait is negative if it is not known.
func (c *cell) add(a *worker.Attempt, wait time.Duration) {
	c.changes++
	switch a.Outcome {
	case worker.OutcomeUnhandled:
		c.Unhandled++
		return
	case worker.OutcomeRetried:
		c.Retried++
	case worker.OutcomeFailed:
		c.Failed++
	case worker.OutcomeExpired:
		c.Expired++
	default:
		c.Done++
	}
	if a.Outcome != worker.OutcomeRetried && !a.Created.IsZero() {
		count(&c.Created, minuteOf(a.Created), 1)
	}
	if a.Error != "" {
		c.failed(a.Error)
	}
	if !a.Began.IsZero() {
		c.Takes.add(a.Took)
		if wait >= 0 {
			c.Waits.add(wait)
		}
	}
}

// well reports whether no attempt failed and every message had a handler.
func (c *cell) well() bool { return c.Retried+c.Failed+c.Unhandled == 0 }

// failed counts an error. Of many different ones those that came first are counted.
func (c *cell) failed(text string) {
	print := fingerprint.Of(text)
	if _, known := c.Errors[print]; known || len(c.Errors) < maxErrors {
		count(&c.Errors, print, 1)
	}
}

func count[K comparable](all *map[K]int64, k K, n int64) {
	if *all == nil {
		*all = map[K]int64{}
	}
	(*all)[k] += n
}

// merge adds the numbers of another cell.
func (c *cell) merge(other *cell) {
	c.changes++
	c.Add(&other.Totals)
}

// Add adds other numbers.
func (t *Totals) Add(other *Totals) {
	t.Done += other.Done
	t.Retried += other.Retried
	t.Failed += other.Failed
	t.Expired += other.Expired
	t.Unhandled += other.Unhandled
	t.Waits.merge(&other.Waits)
	t.Takes.merge(&other.Takes)
	for minute, n := range other.Created {
		count(&t.Created, minute, n)
	}
	for print, n := range other.Errors {
		count(&t.Errors, print, n)
	}
}

// Attempts returns how many attempts ended, and how many of them failed.
func (t *Totals) Attempts() (all, failed int64) {
	failed = t.Retried + t.Failed
	return t.Done + failed, failed
}

// CommonestError returns the fingerprint of the error that attempts failed with most often; "": none.
func (t *Totals) CommonestError() string {
	if len(t.Errors) == 0 {
		return ""
	}
	return t.CommonErrors()[0]
}

// keepCommonest drops all errors but the commonest few.
func (t *Totals) keepCommonest() {
	for _, print := range t.CommonErrors()[min(maxErrors, len(t.Errors)):] {
		delete(t.Errors, print)
	}
}

// CommonErrors returns the fingerprints of the errors that attempts failed with, the commonest first.
func (t *Totals) CommonErrors() []string {
	return slices.SortedFunc(maps.Keys(t.Errors), func(a, b string) int { return cmp.Or(cmp.Compare(t.Errors[b], t.Errors[a]), cmp.Compare(a, b)) })
}

// row converts the numbers of a minute for the database.
func (c *cell) row(k key) op.Activity { return c.Row(1, k.minute, k.queue, k.topic, c.id) }

// Row converts the numbers for the database.
func (t *Totals) Row(grain, minute int64, queue, topic string, id uuid.UUID) op.Activity {
	return op.Activity{
		Grain: grain, Minute: minute, Queue: queue, Topic: topic, Worker: id, Done: t.Done, Retried: t.Retried, Failed: t.Failed, Expired: t.Expired, Unhandled: t.Unhandled,
		Waits: t.Waits.text(), Takes: t.Takes.text(), Created: pairs(t.Created), Errors: pairs(t.Errors),
	}
}

// Of returns the numbers of a row.
func Of(r *op.Activity) (*Totals, error) {
	t := &Totals{Done: r.Done, Retried: r.Retried, Failed: r.Failed, Expired: r.Expired, Unhandled: r.Unhandled}
	return t, cmp.Or(t.Waits.read(r.Waits), t.Takes.read(r.Takes), readPairs(r.Created, &t.Created), readPairs(r.Errors, &t.Errors))
}

// pair is a key of a map and its number.
type pair[K cmp.Ordered] struct {
	Key K
	N   int64
}

// pairs writes a map as JSON: [[key,n],…], in the order of the keys.
func pairs[K cmp.Ordered](all map[K]int64) string {
	list := make([][2]any, 0, len(all))
	for _, k := range slices.Sorted(maps.Keys(all)) {
		list = append(list, [2]any{k, all[k]})
	}
	text, _ := json.Marshal(list) // strings and numbers always can
	return string(text)
}

func readPairs[K cmp.Ordered](text string, all *map[K]int64) error {
	if text == "[]" {
		return nil
	}
	var list []pair[K]
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return err
	}
	for _, p := range list {
		count(all, p.Key, p.N)
	}
	return nil
}

// UnmarshalJSON reads [key,n].
func (p *pair[K]) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[2]any{&p.Key, &p.N})
}
