package outbox

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// maxFailures is how many kinds of failures are told apart.
const maxFailures = 1000

// maxFailed is how many failed messages are read to group them.
const maxFailed = 1_000_000

// statusFailed is the number of Failed among op.OutboxStatuses.
const statusFailed = 3

// Failures groups the failed messages that a filter selects by topic and fingerprint, the most frequent
// first. It reads all of them, up to the newest 1 000 000, 10 000 in each statement, and no payloads. IDs, Limit and Rate of the filter
// are ignored.
func (o operator) Failures(ctx context.Context, f FailedFilter) ([]acts.Failure, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	d := o.deadFilter(&f)
	read := op.OutboxFailures{Below: math.MaxInt64, Topic: d.Topic, Queue: d.Queue, Error: d.Error, Fingerprint: d.Fingerprint, Since: d.Since, Before: d.Before}
	groups := map[[2]string]*acts.Failure{}
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
	all := make([]acts.Failure, 0, len(groups))
	for _, g := range groups {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b acts.Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return all, nil
}

// addFailure adds what was read of a kind to its group. What is read later has lower positions.
func addFailure(groups map[[2]string]*acts.Failure, r *op.OutboxFailure) {
	key := [2]string{r.Topic, worker.Value(r.Fingerprint)}
	g := groups[key]
	if g == nil && len(groups) >= maxFailures {
		key = [2]string{}
		g = groups[key]
	}
	first, last := r.FirstAt.UTC(), r.LastAt.UTC()
	if g == nil {
		g = &acts.Failure{Topic: key[0], Fingerprint: key[1], FirstAt: first, LastAt: last, Position: r.ID, Error: worker.Value(r.Error), Others: key[0] == ""}
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
