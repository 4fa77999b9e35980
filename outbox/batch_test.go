package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/work"
)

// counter is a database that gives out positions and nothing else.
type counter struct {
	engine.DB
	next int64
}

// Generation is that of a database that was never lost.
func (*counter) Generation() int64 { return 0 }

func (c *counter) ReserveIDs(_ context.Context, _ engine.Tx, n int) (int64, error) {
	c.next += int64(n)
	return c.next - int64(n) + 1, nil
}

// A component that keeps its messages itself has their columns laid out once, as it wants them: nothing is laid out
// before it asks.
func TestBatchIsLaidOutWhenItIsAskedFor(t *testing.T) {
	o := New(&counter{}, Options{})
	b, err := o.Prepare(t.Context(), nil, []Message{{Topic: "t", Due: time.Now().Add(time.Hour)}})
	if err != nil || b.calls != nil {
		t.Fatalf("laid out at once: %v, %v", b.calls, err)
	}
	calls := b.TimerCalls(func(int) *string { return nil })
	if len(calls) != 1 || calls[0].Name() != "timer/schedule" {
		t.Errorf("%+v", calls)
	}
	if again := b.Calls(); len(again) != 1 || again[0] != calls[0] {
		t.Errorf("laid out again: %+v", again)
	}
}

// What is settled goes to the database in order of its position, also where positions are further apart than an int of
// 32 bits can say.
func TestSettledInOrder(t *testing.T) {
	owner := work.NewOwnerToken()
	ids := []work.ItemID{1<<47 + 1, 1, 1 << 32, 1<<31 + 5, 7}
	s := &work.Settlement{}
	for _, id := range ids {
		h := work.Held{Owner: owner, ID: id}
		delay := time.Second
		s.Acks, s.Retries, s.Failures = append(s.Acks, h), append(s.Retries, work.Retry{Held: h, Delay: &delay}), append(s.Failures, work.Failure{Held: h})
		s.Releases, s.Parks = append(s.Releases, work.Release{Held: h}), append(s.Parks, work.Park{Held: h})
	}
	for _, call := range settleCalls(s, "w") {
		for _, arg := range call.Args {
			lo, ok := arg.([]int64)
			if !ok {
				continue
			}
			for i := 1; i < len(lo) && len(lo) == len(ids); i++ {
				if lo[i] < lo[i-1] {
					t.Errorf("%s: %v", call.Name(), lo)
				}
			}
		}
	}
}
