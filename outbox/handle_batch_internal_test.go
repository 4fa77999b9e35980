package outbox

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bravellian/pawl/internal/worker"
)

// D-203: while a call runs the next batch is collected, up to its limit, and begins when the call
// has ended; the ones after it wait.
func TestBatchesFollowEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		running := 0
		b := newBatcher(func(_ context.Context, messages []*Message) []error {
			sizes = append(sizes, len(messages))
			if running++; running > 1 {
				t.Errorf("%d calls at once", running)
			}
			time.Sleep(time.Second)
			running--
			return make([]error, len(messages))
		}, BatchOptions{Max: 4, Wait: 100 * time.Millisecond}, 1)
		ended := make(chan time.Duration, 10)
		began := time.Now()
		for i := range 10 {
			if i == 2 {
				time.Sleep(200 * time.Millisecond)
			}
			go func() {
				if err := b.Handle(t.Context(), &Message{Position: Position(i + 1)}); err != nil {
					t.Error(err)
				}
				ended <- time.Since(began).Round(100 * time.Millisecond)
			}()
		}
		for i := range 10 {
			want := []int64{1100, 1100, 2100, 2100, 2100, 2100, 3100, 3100, 3100, 3100}[i]
			if got := <-ended; got.Milliseconds() != want {
				t.Errorf("result %d after %v, want %d ms", i, got, want)
			}
		}
		if len(sizes) != 3 || sizes[0] != 2 || sizes[1] != 4 || sizes[2] != 4 {
			t.Errorf("batches of %v", sizes)
		}
	})
}

// D-203: a call that ends because of one message's lease costs the others no attempt; a batch
// whose first message is given up before it begins is put back.
func TestBatchOfALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatcher(func(ctx context.Context, messages []*Message) []error {
			<-ctx.Done()
			errs := make([]error, len(messages))
			for i := range errs {
				errs[i] = ctx.Err()
			}
			return errs
		}, BatchOptions{Max: 2, Wait: time.Second}, 1)
		lost, lose := context.WithCancel(t.Context())
		results := make([]chan error, 3)
		handle := func(i int, ctx context.Context) {
			results[i] = make(chan error, 1)
			go func() { results[i] <- b.Handle(ctx, &Message{Position: Position(i + 1)}) }()
			synctest.Wait()
		}
		handle(0, lost)
		handle(1, t.Context())
		handle(2, lost)
		lose()
		if err := <-results[0]; err != context.Canceled { //nolint:errorlint // the very value
			t.Errorf("the message whose lease is lost: %v", err)
		}
		for _, i := range []int{1, 2} {
			if err := <-results[i]; !worker.IsSnooze(err) {
				t.Errorf("message %d: %v", i, err)
			}
		}
	})
}
