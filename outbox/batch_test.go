package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
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
	o, _ := New(access.Key{}, &counter{}, worker.Options{})
	b, err := o.batch(t.Context(), nil, []Message{{Topic: "t", Due: time.Now().Add(time.Hour)}}, 0)
	if err != nil || b.calls != nil {
		t.Fatalf("laid out at once: %v, %v", b.calls, err)
	}
	calls := b.CallsTo(func(messages []op.NewMessage, index []int) engine.Operation {
		return op.OutboxEnqueueOnce{Messages: messages, Queues: []string{fmt.Sprint(index)}}
	})
	if kept, ok := calls[0].Operation.(op.OutboxEnqueueOnce); len(calls) != 1 || !ok || len(kept.Messages) != 1 || kept.Queues[0] != "[0]" {
		t.Errorf("%+v", calls)
	}
	if again := b.Calls(); len(again) != 1 || again[0] != calls[0] {
		t.Errorf("laid out again: %+v", again)
	}
}

// What is settled goes to the database in order of its position, also where positions are further apart than an int of
// 32 bits can say.
func TestSettledInOrder(t *testing.T) {
	owner := uuid.New()
	ids := []int64{1<<47 + 1, 1, 1 << 32, 1<<31 + 5, 7}
	s := &worker.Settlement{}
	for _, id := range ids {
		h := worker.Held{Owner: owner, ID: id}
		delay := time.Second
		s.Acks, s.Retries, s.Failures = append(s.Acks, h), append(s.Retries, worker.Retry{Held: h, Delay: &delay}), append(s.Failures, worker.Failure{Held: h})
		s.Releases, s.Parks = append(s.Releases, worker.Release{Held: h}), append(s.Parks, worker.Park{Held: h})
	}
	seen := 0
	for _, call := range (&Outbox{}).settleCalls(s) {
		runs := reflect.ValueOf(call.Operation).FieldByName("Runs")
		for i := 1; i < runs.Len(); i++ {
			seen++
			before, after := runs.Index(i-1).Interface().(interface{ Run() op.Held }).Run(), runs.Index(i).Interface().(interface{ Run() op.Held }).Run()
			if after.Lo < before.Lo {
				t.Errorf("%s: %d before %d", call.Name(), before.Lo, after.Lo)
			}
		}
	}
	if seen != 5*(len(ids)-1) {
		t.Errorf("saw %d pairs", seen)
	}
}

// D-207, D-39: results are stored while the messages are held, before the acks and behind what locks no
// join, in order of position; without any nothing is asked for.
func TestResultsBeforeAcks(t *testing.T) {
	o, _ := New(access.Key{}, nil, worker.Options{Logger: slog.New(slog.DiscardHandler)})
	names := func(calls []*engine.Call) (all []string) {
		for _, c := range calls {
			all = append(all, c.Name())
		}
		return all
	}
	one, two := worker.Held{ID: 1}, worker.Held{ID: 2}
	s := &worker.Settlement{Acks: []worker.Held{two, one}, Failures: []worker.Failure{{Held: worker.Held{ID: 3}}}}
	if got := names((&Outbox{}).settleCalls(s)); !slices.Equal(got, []string{"outbox/fail", "outbox/ack"}) {
		t.Errorf("without results: %v", got)
	}
	s.Results = []worker.Result{{Held: two, Data: []byte("b")}, {Held: one, Data: []byte("a")}}
	calls := (&Outbox{}).settleCalls(s)
	if got := names(calls); !slices.Equal(got, []string{"outbox/fail", "join/results", "outbox/ack"}) {
		t.Errorf("with results: %v", got)
	}
	stored := calls[1].Operation.(op.JoinResults).Results
	if len(stored) != 2 || stored[0].ID != 1 || string(stored[0].Result) != "a" || stored[1].ID != 2 {
		t.Errorf("%+v", stored)
	}
	m := &Message{Position: 7, Owner: NewOwnerToken()}
	for range 2 { // set and removed
		if ack := (component{o}).AckCall(m).Operation.(op.OutboxAckOne); len(ack.Result) > 0 {
			t.Errorf("a message without a result: %q", ack.Result)
		}
		if err := errors.Join(m.SetResult([]byte("x")), m.SetResult(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(10, func() { _ = m.SetResult(nil) }); n > 0 {
		t.Errorf("no result takes %v allocations", n)
	}
}
