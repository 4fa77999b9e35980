package main

import (
	"encoding/json"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bravellian/pawl"
)

// stats is what this process did.
type stats struct {
	enqueued, completed, failed atomic.Int64
	targetRate                  atomic.Int64
	// From the call that enqueues a job to its return, in all and for each job of it; to the handler's
	// start; and until its ack is committed.
	call, produce, claim, endToEnd *window
}

func newStats() *stats {
	return &stats{call: new(window), produce: new(window), claim: new(window), endToEnd: new(window)}
}

// attempted counts attempts whose outcomes are in the database.
func (s *stats) attempted(attempts []pawl.Attempt) {
	for _, a := range attempts {
		switch a.Outcome {
		case "acked":
			s.completed.Add(1)
			var body job
			if json.Unmarshal(a.Payload, &body) == nil {
				s.endToEnd.record(time.Since(body.ProducedAt))
			}
		case "retried", "failed":
			s.failed.Add(1)
		}
	}
}

// windowSeconds is how far a window reaches back.
const windowSeconds = 30

// A window has the durations of the last windowSeconds, in a histogram for each second. Its memory is
// bounded whatever it is given.
type window struct {
	mu    sync.Mutex
	slots [windowSeconds + 1]slot
}

// slot is a second's histogram.
type slot struct {
	second int64
	counts []uint32 // nil: nothing was recorded
}

// Durations are counted in microseconds, those of some 70 minutes and more as one. Up to 2048 each has
// a bucket of its own, above that 1024 buckets for each power of two: three significant figures.
const (
	precision = 10 // bits
	exact     = 2 << precision
	largest   = 1<<32 - 1
	buckets   = (32-precision-1)<<precision + exact
)

// bucketOf returns the bucket of a number of microseconds.
func bucketOf(us int64) int {
	us = min(max(us, 0), largest)
	shift := max(0, bits.Len64(uint64(us))-precision-1)
	return shift<<precision + int(us>>shift)
}

// valueOf returns the middle of a bucket, in microseconds.
func valueOf(bucket int) float64 {
	if bucket < exact {
		return float64(bucket)
	}
	shift := bucket>>precision - 1
	low := int64(bucket-shift<<precision) << shift
	return float64(low) + float64(int64(1)<<shift-1)/2
}

func (w *window) record(d time.Duration) { w.recordAt(time.Now(), d) }

func (w *window) recordAt(now time.Time, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.slots[now.Unix()%int64(len(w.slots))]
	if s.second != now.Unix() {
		s.second = now.Unix()
		clear(s.counts)
	}
	if s.counts == nil {
		s.counts = make([]uint32, buckets)
	}
	s.counts[bucketOf(d.Microseconds())]++
}

// percentiles returns the 50th, 95th and 99th percentile in milliseconds; ok is false if the window is
// empty.
func (w *window) percentiles(now time.Time) (p [3]float64, ok bool) {
	merged, total := w.merge(now)
	if total == 0 {
		return p, false
	}
	for i, share := range []float64{0.50, 0.95, 0.99} {
		rank, seen := uint64(share*float64(total-1)), uint64(0)
		for b, n := range merged {
			if seen += n; seen > rank {
				p[i] = valueOf(b) / 1000
				break
			}
		}
	}
	return p, true
}

// merge adds up the seconds that the window reaches back to.
func (w *window) merge(now time.Time) (merged []uint64, total uint64) {
	merged = make([]uint64, buckets)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.slots {
		s := &w.slots[i]
		if s.second <= now.Unix()-windowSeconds || s.second > now.Unix() {
			continue
		}
		for b, n := range s.counts {
			merged[b] += uint64(n)
			total += uint64(n)
		}
	}
	return merged, total
}
