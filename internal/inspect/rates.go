package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// rates adds how fast messages of each topic came and were done.
func (t *Throughput) rates(ctx context.Context, db engine.DB, now time.Time, since time.Duration, in, done *flow) error {
	all := map[[2]string]*TopicFlow{}
	for _, of := range []struct {
		f    *flow
		rate func(*TopicFlow) *float64
	}{{in, func(f *TopicFlow) *float64 { return &f.In }}, {done, func(f *TopicFlow) *float64 { return &f.Done }}} {
		spans, from := of.f.newest(now.Add(-since))
		if len(spans) == 0 {
			continue
		}
		topics, err := engine.Query(ctx, db, op.OutboxTopics{Spans: spans})
		if err != nil {
			return err
		}
		// Of less than a second, one commit say, no rate can be computed.
		seconds := max(now.Sub(from).Seconds(), 1)
		for i := range topics {
			f := flowOf(all, &topics[i])
			*of.rate(f) += float64(topics[i].N) / seconds
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		t.Topics = append(t.Topics, *all[k])
	}
	return nil
}

func flowOf(all map[[2]string]*TopicFlow, of *op.OutboxTopic) *TopicFlow {
	key := [2]string{of.Topic, ""}
	if of.Queue != nil {
		key[1] = *of.Queue
	}
	f := all[key]
	if f == nil {
		f = &TopicFlow{Topic: key[0], Queue: key[1]}
		all[key] = f
	}
	return f
}

// newest returns where the newest messages are, at most flowRows and those of the run that this number is
// reached in, and since when there are no others: after a time at the earliest.
func (f *flow) newest(after time.Time) (spans []op.Span, from time.Time) {
	if read := f.from(); read.After(after) {
		after = read
	}
	rows := slices.Clone(f.rows)
	slices.SortFunc(rows, func(a, b op.OutboxFlow) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Lo, a.Lo)) })
	left := int64(flowRows)
	for i := range rows {
		r := &rows[i]
		if r.At.Before(after) {
			return spans, after
		}
		if left <= 0 {
			return spans, rows[i-1].At
		}
		left -= r.N
		spans = appendSpan(spans, r)
	}
	return spans, after
}

// appendSpan adds positions to those before them if they are next to each other: those of messages that
// were enqueued together are, newest first.
func appendSpan(spans []op.Span, r *op.OutboxFlow) []op.Span {
	if n := len(spans); n > 0 && spans[n-1].Lo == r.Lo+r.N {
		spans[n-1].Lo, spans[n-1].N = r.Lo, spans[n-1].N+int(r.N)
		return spans
	}
	return append(spans, op.Span{Lo: r.Lo, N: int(r.N)})
}
