package worker_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/google/uuid"
)

// D-14, OBX-065: the default is ten attempts with ± 10 %.
func TestDefaultRetryPolicy(t *testing.T) {
	p := worker.DefaultRetryPolicy()
	if p.Exhausted(9) || !p.Exhausted(10) || !p.Exhausted(11) {
		t.Error("the default is not ten attempts in all")
	}
	if p.Jitter != 0.1 {
		t.Errorf("jitter %v", p.Jitter)
	}
	if (worker.RetryPolicy{}).Exhausted(math.MaxInt) {
		t.Error("a policy without a maximum is exhausted")
	}
}

// D-14: jitter stays within its share, is never negative, and varies.
func TestJitterIsBounded(t *testing.T) {
	bounded := func(share float64, delay time.Duration, failures int) {
		p := worker.RetryPolicy{Jitter: share, Delay: func(n int) time.Duration {
			if n != failures {
				t.Fatalf("asked for the delay after %d failures, want %d", n, failures)
			}
			return delay
		}}
		part := min(max(share, 0), 1)
		lo, hi := time.Duration(float64(delay)*(1-part)), time.Duration(float64(delay)*(1+part))
		got := p.Wait(failures)
		if delay <= 0 {
			if got != 0 {
				t.Fatalf("Wait = %v for a delay of %v", got, delay)
			}
			return
		}
		if got < max(lo-time.Microsecond, 0) || got > hi+time.Microsecond {
			t.Fatalf("Wait = %v for %v ± %v", got, delay, part)
		}
	}
	for _, share := range []float64{-1, 0, 0.1, 0.5, 1, 3} {
		for _, delay := range []time.Duration{-time.Hour, 0, 1, time.Second, 1000 * time.Hour} {
			bounded(share, delay, 1_000_000)
		}
	}
	for range 1000 {
		bounded(4*rand.Float64()-1, time.Duration(rand.Int64N(int64(1000*time.Hour))), rand.IntN(1_000_000))
	}
	spread := map[time.Duration]bool{}
	for range 100 {
		spread[worker.RetryPolicy{Jitter: 0.1}.Wait(1)] = true
	}
	if len(spread) < 50 {
		t.Errorf("%d different delays of 100", len(spread))
	}
	if got := (worker.RetryPolicy{}).Wait(3); got != 4*time.Second {
		t.Errorf("without jitter the delay is %v, want 4s", got)
	}
}

// D-403: a policy spans the sum of its delays, also where there are more of them than are added up,
// or more than a Duration holds; without a maximum it never ends.
func TestWithin(t *testing.T) {
	second := func(int) time.Duration { return time.Second }
	for _, tt := range []struct {
		p    worker.RetryPolicy
		want time.Duration // the first age that is not within
	}{
		{worker.RetryPolicy{MaxAttempts: 1}, 0},
		{worker.RetryPolicy{MaxAttempts: 2}, time.Second},
		{worker.RetryPolicy{MaxAttempts: 10, Jitter: 1}, 243 * time.Second},
		{worker.RetryPolicy{MaxAttempts: 1001, Delay: second}, 1000 * time.Second},
		{worker.RetryPolicy{MaxAttempts: 1_000_000, Delay: second}, 999_999 * time.Second},
		{worker.RetryPolicy{MaxAttempts: math.MaxInt, Delay: func(int) time.Duration { return 0 }}, 0},
		{worker.RetryPolicy{MaxAttempts: 3, Delay: func(n int) time.Duration { return time.Duration(2*n-3) * time.Hour }}, time.Hour},
	} {
		if tt.p.Within(tt.want) || tt.want > 0 && !tt.p.Within(tt.want-1) {
			t.Errorf("%d attempts do not span %v", tt.p.MaxAttempts, tt.want)
		}
	}
	for _, p := range []worker.RetryPolicy{{}, {MaxAttempts: math.MaxInt}, {MaxAttempts: 9, Delay: func(int) time.Duration { return math.MaxInt64 }}} {
		if !p.Within(math.MaxInt64) {
			t.Errorf("%d attempts end", p.MaxAttempts)
		}
	}
}

// D-15: the constructors of handlers' errors with nil and unusual values.
func TestVerdictsOfNothing(t *testing.T) {
	if worker.Permanent(nil) != nil {
		t.Error("Permanent(nil) is not nil")
	}
	if err := worker.RetryAfter(-time.Second, nil); err == nil || err.Error() == "" {
		t.Errorf("RetryAfter(…, nil) = %v", err)
	}
	if err := worker.Snooze(-time.Second); err == nil || !strings.Contains(err.Error(), "0s") {
		t.Errorf("Snooze(-1s) = %v", err)
	}
	if !strings.Contains((&worker.PanicError{Value: "v", Stack: []byte("stack")}).Error(), "v") {
		t.Error("a panic's text lacks its value")
	}
	if strings.Contains((&worker.PanicError{Value: "v", Stack: []byte("stack")}).Error(), "stack") {
		t.Error("a panic's text has its stack")
	}
}

// D-7: the text of an error that is stored is valid UTF-8 without NUL, at most 2 KiB, cut
// between characters, and as long as fits.
func FuzzErrorText(f *testing.F) {
	for _, s := range []string{"", "boom", "\x00", "a\xffb", strings.Repeat("a", 2047) + "é", strings.Repeat("a", 2048) + "b",
		strings.Repeat("\U0001F4A5", 600), strings.Repeat("\xf0\x9f", 2000), strings.Repeat("a\x00", 1100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := worker.ErrorText(s)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) || len(got) > 2048 {
			t.Fatalf("ErrorText(%q) = %q", s, got)
		}
		if utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
			if !strings.HasPrefix(s, got) {
				t.Fatalf("ErrorText(%q) = %q", s, got)
			}
			if rest := s[len(got):]; rest != "" {
				if _, n := utf8.DecodeRuneInString(rest); len(got)+n <= 2048 {
					t.Fatalf("cut %d bytes where %d more fit", len(got), n)
				}
			}
		}
		if again := worker.ErrorText(got); again != got {
			t.Fatal("not idempotent")
		}
	})
}

// D-23: runs are the sorted set of the ids, each once, with consecutive ones joined.
func TestRunsAreTheSortedSet(t *testing.T) {
	starts := []int64{0, math.MaxInt64 - 6, math.MinInt64 + 4}
	for range 1000 {
		ids := make([]int64, rand.IntN(30))
		for i := range ids {
			ids[i] = starts[rand.IntN(3)] + rand.Int64N(10) - 4 // small ones, and both ends
			if rand.IntN(5) == 0 {
				ids[i] = int64(rand.Uint64())
			}
		}
		checkRuns(t.Fatalf, ids)
	}
}

// D-23: the same with fuzzed bytes.
func FuzzRuns(f *testing.F) {
	f.Add([]byte{1, 2, 3, 3, 9, 1})
	f.Add([]byte{255, 254, 0, 128, 127, 126})
	f.Fuzz(func(t *testing.T, b []byte) {
		var ids []int64
		for i, x := range b {
			v := int64(int8(x))
			switch i % 5 { // small ones, and both ends
			case 3:
				v = math.MaxInt64 - int64(x)%4
			case 4:
				v = math.MinInt64 + int64(x)%4
			}
			ids = append(ids, v)
		}
		checkRuns(t.Fatalf, ids)
	})
}

func checkRuns(fatalf func(string, ...any), ids []int64) {
	want := map[int64]bool{}
	items := make([]int64, len(ids))
	for i, id := range ids {
		want[id], items[i] = true, id
	}
	got := map[int64]bool{}
	var last worker.Run
	for i, r := range worker.Runs(items) {
		if r.N < 1 || r.N > int64(len(ids)) {
			fatalf("Runs(%v): a run of length %d", ids, r.N)
		}
		if i > 0 && (r.Lo <= last.Lo || uint64(r.Lo)-uint64(last.Lo) <= uint64(last.N)) {
			fatalf("Runs(%v): %v follows %v", ids, r, last)
		}
		for k := range r.N {
			got[r.Lo+k] = true
		}
		last = r
	}
	if len(got) != len(want) {
		fatalf("Runs(%v) covers %d ids, want %d", ids, len(got), len(want))
	}
	for id := range want {
		if !got[id] {
			fatalf("Runs(%v) lacks %d", ids, id)
		}
	}
	for i, id := range items {
		if id != ids[i] {
			fatalf("Runs changed its argument")
		}
	}
}

// D-13: tokens are distinct UUIDs in the usual form.
func TestOwnerTokensAreDistinct(t *testing.T) {
	a, b := uuid.New(), uuid.New()
	if a == b || a == (uuid.UUID{}) || len(a.String()) != 36 || a.String() != strings.ToLower(a.String()) {
		t.Errorf("tokens %v and %v", a, b)
	}
}
