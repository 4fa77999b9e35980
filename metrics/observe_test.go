package metrics

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// someObserver is an observer that has seen so many topics.
func someObserver(topics int) *observer {
	o := &observer{c: build(false, Options{})}
	for i := range topics {
		o.enqueued("default", fmt.Sprintf("topic-%d", i), 1)
	}
	return o
}

func someAttempt(topic string) []worker.Attempt {
	return []worker.Attempt{{Queue: "default", Topic: topic, Outcome: worker.OutcomeAcked, Waited: 3 * time.Millisecond, Took: 40 * time.Microsecond, Body: &outbox.Message{}}}
}

// Counting a message takes no memory, whether its topic is told apart or not.
func TestCountingTakesNoMemory(t *testing.T) {
	o := someObserver(300)
	known, other := someAttempt("topic-7"), someAttempt("topic-299")
	timer := someAttempt("topic-7")
	timer[0].Scheduled, timer[0].Body = true, &outbox.Message{Due: time.Now(), Headers: map[string]string{"pawl-job": "j"}}
	for name, attempt := range map[string][]worker.Attempt{"known": known, "other": other, "job": timer} {
		if n := testing.AllocsPerRun(100, func() {
			o.attempted(attempt)
			o.claimed(attempt[0].Queue, 1)
			o.enqueued(attempt[0].Queue, attempt[0].Topic, 1)
			o.reaped(attempt[0].Queue, 1)
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Outcomes that this version does not know are counted, too.
func TestUnknownOutcome(t *testing.T) {
	o := someObserver(0)
	for _, outcome := range []worker.Outcome{-1, 99, worker.OutcomeSettled} {
		a := someAttempt("t")
		a[0].Outcome = outcome
		o.attempted(a)
	}
}

// Labels are valid, bounded and the same for the same name, whoever asks at once.
func TestNames(t *testing.T) {
	n := &names{max: 10}
	var all sync.WaitGroup
	got := make([]map[string]string, 8)
	for i := range got {
		got[i] = map[string]string{}
		all.Go(func() {
			for j := range 50 {
				name := fmt.Sprintf("name-%d\xff", j)
				got[i][name] = n.label(name)
			}
		})
	}
	all.Wait()
	labels := map[string]bool{}
	for _, one := range got {
		for name, label := range one {
			if label != n.label(name) {
				t.Errorf("%q was %q and is %q", name, label, n.label(name))
			}
			if label != other && label != strings.ToValidUTF8(name, "\uFFFD") {
				t.Errorf("%q became %q", name, label)
			}
			labels[label] = true
		}
	}
	if len(labels) != 11 || !labels[other] {
		t.Errorf("there are %d labels, want 10 and %q", len(labels), other)
	}
}

func BenchmarkAttempted(b *testing.B) {
	for _, name := range []string{"topic-7", "topic-299"} {
		b.Run(name, func(b *testing.B) {
			o, a := someObserver(300), someAttempt(name)
			b.ReportAllocs()
			for b.Loop() {
				o.attempted(a)
			}
		})
	}
}

func BenchmarkAttemptedTogether(b *testing.B) {
	o := someObserver(8)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		a := someAttempt("topic-7")
		for pb.Next() {
			o.attempted(a)
		}
	})
}
