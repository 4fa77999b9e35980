package outbox

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Failure is failed messages of a topic whose last errors are of one kind.
type Failure struct {
	Topic string `json:"topic,omitempty"`
	// Fingerprint is what their errors have in common: the text with # for numbers, times, ids, addresses and
	// paths and … for what stands in quotes or brackets, of 200 characters at most; "": they failed without a
	// text. Of what
	// programs in other languages recorded, numbers alone are left out, and on PostgreSQL alone.
	Fingerprint string    `json:"fingerprint"`
	Count       int64     `json:"count"`
	FirstAt     time.Time `json:"first_at"` // when the first of them failed for good
	LastAt      time.Time `json:"last_at"`
	Position    Position  `json:"position"` // of the newest of them
	Error       string    `json:"error"`    // of that one
	// Others means that these are all that found no place among the 1000 kinds that are told apart.
	Others bool `json:"others,omitempty"`
}

// maxFailures is how many kinds of failures are told apart.
const maxFailures = 1000

// maxFailed is how many failed messages are read to group them.
const maxFailed = 1_000_000

// statusFailed is the number of Failed among op.OutboxStatuses.
const statusFailed = 3

// Failures groups the failed messages that a filter selects by topic and fingerprint, the most frequent
// first. It reads all of them, up to the newest 1 000 000, 10 000 in each statement, and no payloads. IDs, Limit and Rate of the filter
// are ignored.
func (o *Outbox) Failures(ctx context.Context, f FailedFilter) ([]Failure, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	d := o.deadFilter(&f)
	read := op.OutboxFailures{Below: math.MaxInt64, Topic: d.Topic, Queue: d.Queue, Error: d.Error, Fingerprint: d.Fingerprint, Since: d.Since, Before: d.Before}
	groups := map[[2]string]*Failure{}
	for n := 0; read.Below > 0 && n < maxFailed; n += o.failedPage {
		floor, _, err := engine.Get(ctx, o.db, op.OutboxListDeadFloor{Before: read.Below, Look: o.failedPage, Status: statusFailed})
		if err != nil {
			return nil, err
		}
		read.Floor = floor.Floor
		found, err := engine.Query(ctx, o.db, read)
		if err != nil {
			return nil, err
		}
		for i := range found {
			addFailure(groups, &found[i])
		}
		read.Below = read.Floor
	}
	all := make([]Failure, 0, len(groups))
	for _, g := range groups {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return all, nil
}

// addFailure adds what was read of a kind to its group. What is read later has lower positions.
func addFailure(groups map[[2]string]*Failure, r *op.OutboxFailure) {
	key := [2]string{r.Topic, worker.Value(r.Fingerprint)}
	g := groups[key]
	if g == nil && len(groups) >= maxFailures {
		key = [2]string{}
		g = groups[key]
	}
	first, last := r.FirstAt.UTC(), r.LastAt.UTC()
	if g == nil {
		g = &Failure{Topic: key[0], Fingerprint: key[1], FirstAt: first, LastAt: last, Position: Position(r.ID), Error: worker.Value(r.Error), Others: key[0] == ""}
		groups[key] = g
	}
	g.Count += r.N
	if first.Before(g.FirstAt) {
		g.FirstAt = first
	}
	if last.After(g.LastAt) {
		g.LastAt = last
	}
}
