package lease_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/lease"
)

var errWork = errors.New("work failed")

// D-61: held while fn runs, given back after it.
func TestRun(t *testing.T) { dbtest.Each(t, testRun) }

func testRun(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, want := range []error{nil, errWork} {
		err := f.Run(t.Context(), name, lease.Options{}, func(ctx context.Context, l *lease.Lease) error {
			if i := f.info(); i.Status != lease.Held || i.Token != l.Token() || ctx.Err() != nil {
				t.Errorf("inside Run: %+v", i)
			}
			if err := f.another().Run(ctx, name, lease.Options{}, nil); !errors.Is(err, lease.ErrHeld) {
				t.Errorf("a second one: %v", err)
			}
			return want
		})
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Fatalf("Run returned %v, want %v", err, want)
		}
		if f.info().Status == lease.Held {
			t.Fatal("still held")
		}
	}
}

// D-62
func TestRunLost(t *testing.T) { dbtest.Each(t, testRunLost) }

func testRunLost(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	err := f.Run(t.Context(), name, lease.Options{Duration: time.Hour}, func(ctx context.Context, l *lease.Lease) error {
		if _, err := f.ForceRelease(t.Context(), name); err != nil {
			t.Error(err)
		}
		if err := l.Renew(t.Context()); !errors.Is(err, lease.ErrLost) {
			t.Errorf("Renew returned %v", err)
		}
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, lease.ErrLost) {
			t.Errorf("the context's cause is %v", cause)
		}
		return errWork
	})
	if !errors.Is(err, lease.ErrLost) || !errors.Is(err, errWork) {
		t.Fatalf("Run returned %v", err)
	}
}

// D-61
func TestRunPanic(t *testing.T) { dbtest.Each(t, testRunPanic) }

func testRunPanic(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	func() {
		defer func() { _ = recover() }()
		_ = f.Run(t.Context(), name, lease.Options{Duration: time.Hour}, func(context.Context, *lease.Lease) error { panic("work") })
	}()
	if f.info().Status == lease.Held {
		t.Fatal("still held after a panic")
	}
}

// D-61: the caller's context reaches fn.
func TestRunContext(t *testing.T) { dbtest.Each(t, testRunContext) }

func testRunContext(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.Run(ctx, name, lease.Options{Duration: time.Hour}, func(ctx context.Context, _ *lease.Lease) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || f.info().Status == lease.Held {
		t.Fatalf("Run returned %v, held: %t", err, f.info().Status == lease.Held)
	}
}

// term is a fn that reports its token, and holds until its context ends.
func term(tokens chan<- int64) func(context.Context, *lease.Lease) error {
	return func(ctx context.Context, l *lease.Lease) error {
		tokens <- l.Token()
		<-ctx.Done()
		return nil
	}
}

// candidate runs Elect until the returned function is called.
func (f *fixture) candidate(opts lease.Options, fn func(context.Context, *lease.Lease) error) (resign func()) {
	ctx, cancel := context.WithCancel(f.ctx())
	ended := make(chan error, 1)
	go func() { ended <- f.Elect(ctx, name, opts, fn) }()
	return func() {
		f.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			f.t.Error(err)
		}
	}
}

// D-60, D-61: one leader at a time, and when it resigns the next.
func TestElect(t *testing.T) { dbtest.Each(t, testElect) }

func testElect(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var leading atomic.Int64
	tokens := make(chan int64, 10)
	fn := func(ctx context.Context, l *lease.Lease) error {
		if leading.Add(1) != 1 {
			t.Error("two lead at once")
		}
		tokens <- l.Token()
		<-ctx.Done()
		leading.Add(-1)
		return nil
	}
	first := f.another().candidate(lease.Options{Duration: time.Hour}, fn)
	if got := nth(<-tokens); got != 1 {
		t.Fatalf("token %d", got)
	}
	second := f.another().candidate(lease.Options{Duration: time.Hour}, fn)
	f.waiting(1)
	first()
	if got := nth(<-tokens); got != 2 {
		t.Fatalf("token %d", got)
	}
	second()
	if f.info().Status == lease.Held {
		t.Fatal("still held")
	}
}

// D-61: a leader whose fn returns steps down and stands again, behind the others.
func TestElectAgain(t *testing.T) { dbtest.Each(t, testElectAgain) }

func testElectAgain(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var mu sync.Mutex
	terms := map[string]int{}
	var candidates []func()
	for _, who := range []string{"ada", "bob", "eve"} {
		candidates = append(candidates, f.wakeable().candidate(lease.Options{Owner: who, Duration: time.Hour}, func(context.Context, *lease.Lease) error {
			mu.Lock()
			defer mu.Unlock()
			terms[who]++
			if terms[who] == 2 {
				return errWork // an error ends a term, not the candidacy
			}
			return nil
		}))
	}
	dbtest.Until(t, "each has led three times", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return terms["ada"] > 2 && terms["bob"] > 2 && terms["eve"] > 2
	})
	for _, resign := range candidates {
		resign()
	}
}

// D-6: a candidate outlasts an outage.
func TestElectOutage(t *testing.T) { dbtest.Each(t, testElectOutage) }

func testElectOutage(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.gate.Fail("lease/acquire", &engine.Error{Op: "lease/acquire", Class: engine.ErrUnreachable, Err: errors.New("away")})
	tokens := make(chan int64, 1)
	resign := f.candidate(lease.Options{}, term(tokens))
	dbtest.Until(t, "it has tried twice", func() bool { return len(f.gate.Seen("lease/acquire")) > 1 })
	f.gate.Rule("lease/acquire", nil)
	<-tokens
	resign()
}

// D-62: a leader that lost the lease steps down and stands again.
func TestElectAfterLoss(t *testing.T) { dbtest.Each(t, testElectAfterLoss) }

func testElectAfterLoss(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	tokens := make(chan int64, 2)
	resign := f.candidate(lease.Options{Duration: short}, term(tokens))
	first := <-tokens
	if _, err := f.another().ForceRelease(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if second := <-tokens; second <= first+1 {
		t.Fatalf("token %d after %d and a force", second, first)
	}
	resign()
}
