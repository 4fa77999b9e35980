package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-224: what becomes of a message, by status.
func TestStatus(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	r := newReceiver(t)
	for _, tt := range []struct {
		status int
		header []string
		want   outbox.Status
		wait   time.Duration // at least until the next attempt, by the header
	}{
		{200, nil, outbox.Done, 0},
		{202, []string{"Retry-After", "60"}, outbox.Done, 0},
		{204, nil, outbox.Done, 0},
		{301, []string{"Location", "/elsewhere"}, outbox.Ready, 0},
		{308, []string{"Location", "/elsewhere"}, outbox.Ready, 0},
		{400, nil, outbox.Ready, 0},
		{404, nil, outbox.Ready, 0},
		{429, nil, outbox.Ready, 0},
		{500, nil, outbox.Ready, 0},
		{500, []string{"Retry-After", "7200"}, outbox.Ready, 7000 * time.Second},
		{503, []string{"Retry-After", "soon"}, outbox.Ready, 0},
	} {
		r.answers(tt.status, tt.header...)
		p := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}, PauseAfter: -1})
		p.Sink.Handle("t", outbox.HandlerOptions{Retry: &outbox.RetryPolicy{Delay: func(int) time.Duration { return time.Hour }}})
		id := p.enqueue(outbox.Message{Topic: "t"})
		before := len(r.all())
		p.run()
		i := p.info(id)
		if got := i.Status; got != tt.want || len(r.all()) != before+1 {
			t.Errorf("%d: %s after %d requests: %s", tt.status, got, len(r.all())-before, i.LastError)
		}
		wait := time.Until(i.NextAttemptAt)
		if tt.wait > 0 && wait < tt.wait || tt.wait == 0 && wait > time.Hour {
			t.Errorf("%d: again in %v", tt.status, wait)
		}
		if tt.want != outbox.Done && (i.RetryCount != 1 || !strings.Contains(i.LastError, http.StatusText(tt.status))) {
			t.Errorf("%d: %d failed, %q", tt.status, i.RetryCount, i.LastError)
		}
	}
}

// D-403, D-224: 429 and 503 with Retry-After only ask for time. No attempt is counted, and the later
// of the header and the policy holds, as long as the attempts of the policy would span.
func TestAnswerThatAsksForTime(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	r := newReceiver(t)
	day := func(int) time.Duration { return 24 * time.Hour }
	for _, status := range []int{429, 503} {
		for after, atLeast := range map[string]time.Duration{
			"0": time.Hour, "1": time.Hour, "7200": 2 * time.Hour, "99999999999999999999": 24 * time.Hour,
			time.Now().Add(-2 * time.Minute).UTC().Format(http.TimeFormat): time.Hour, time.Now().Add(3 * time.Hour).UTC().Format(http.TimeFormat): 3*time.Hour - time.Minute,
		} {
			r.answers(status, "Retry-After", after)
			p := start(t, db, Options{Endpoint: &Endpoint{URL: r.URL}, PauseAfter: -1})
			p.Sink.Handle("t", outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 2, Delay: func(int) time.Duration { return time.Hour }}})
			p.Sink.Handle("last", outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 1, Delay: day}}) // spans nothing
			id, last := p.enqueue(outbox.Message{Topic: "t"}), p.enqueue(outbox.Message{Topic: "last"})
			for range 3 {
				began := time.Now()
				p.run()
				i := p.info(id)
				if i.Status != outbox.Ready || i.RetryCount != 0 || !strings.Contains(i.LastError, http.StatusText(status)) {
					t.Errorf("%d after %s: %s, %d attempts: %q", status, after, i.Status, i.RetryCount, i.LastError)
				}
				if wait := i.NextAttemptAt.Sub(began); wait < atLeast-time.Second {
					t.Errorf("%d after %s: again in %v, want %v", status, after, wait, atLeast)
				}
				_, err := p.Outbox.Reschedule(t.Context(), time.Now(), i.Position)
				must(t, err)
			}
			if i := p.info(last); i.Status != outbox.Failed {
				t.Errorf("%d after %s: %s", status, after, i.Status)
			}
			r.answers(204)
			p.run()
			if i := p.info(id); i.Status != outbox.Done {
				t.Errorf("%d after %s: %s", status, after, i.Status)
			}
		}
	}
}

// D-224: seconds or a date, never more than a day and never at once.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"120": 2 * time.Minute, " 7 ": 7 * time.Second, "0": time.Second, "86401": 24 * time.Hour, "99999999999999999999": 24 * time.Hour,
		"Sun, 01 Mar 2026 12:05:00 GMT": 5 * time.Minute, "Sun, 01 Mar 2026 11:00:00 GMT": time.Second, "Sat, 01 Mar 2036 11:00:00 GMT": 24 * time.Hour,
	} {
		if got, ok := retryAfter(value, now); !ok || got != want {
			t.Errorf("%q: %v, %v, want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{"", " ", "soon", "-1", "1.5", "2026-03-01T12:05:00Z"} {
		if got, ok := retryAfter(value, now); ok {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// D-224: ten attempts over about three days.
func TestRetry(t *testing.T) {
	policy := Retry()
	var sum time.Duration
	for failures := 1; failures < policy.MaxAttempts; failures++ {
		if failures > 1 && policy.Delay(failures) <= policy.Delay(failures-1) {
			t.Errorf("%d: %v", failures, policy.Delay(failures))
		}
		sum += policy.Delay(failures)
	}
	if policy.Delay(1) != 5*time.Second || policy.Delay(50) != 24*time.Hour || sum < 72*time.Hour || sum > 96*time.Hour {
		t.Errorf("in all %v", sum)
	}
}

// D-224: an answer that does not come is one attempt, whoever bounds it.
func TestTimeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(release)
	p := start(t, dbtest.OpenSQLite(t), Options{Endpoint: &Endpoint{URL: slow.URL}, Timeout: 50 * time.Millisecond})
	p.Sink.Handle("t", later())
	id := p.enqueue(outbox.Message{Topic: "t"})
	p.run()
	if i := p.info(id); i.Status != outbox.Ready || !strings.Contains(i.LastError, "no answer within 50ms") {
		t.Errorf("%s: %q", i.Status, i.LastError)
	}
}

// endless is an answer whose body never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func (e *endless) Close() error { return nil }

// D-224, D-227: of an answer a part is read, and a small part of it is in the error.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 500} {
		body := &endless{}
		p := start(t, dbtest.OpenSQLite(t), Options{Endpoint: &Endpoint{URL: "https://example.com"}, Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: body}, nil
		})})
		err := p.attempt("t")
		if (err == nil) != (status == 200) || body.read > answerText+answerDrained+32<<10 {
			t.Errorf("%d: %v, %d read", status, err, body.read)
		}
		if err != nil && len(err.Error()) > 2*answerText {
			t.Errorf("%d bytes of error", len(err.Error()))
		}
	}
}

// An answer's text has one line and no control characters, and Redact has the last word.
func TestAnswerText(t *testing.T) {
	for redact, want := range map[bool]string{false: "no\u00a0such  thing [31m", true: "NO SUCH THING [31M"} {
		s := &Sink{}
		if redact {
			s.opts.Redact = strings.ToUpper
		}
		e, err := (&Endpoint{URL: "https://example.com"}).prepare()
		must(t, err)
		want = strings.Join(strings.Fields(want), " ")
		if got := s.said(e, []byte("no\u00a0such\r\n\tthing\x00 \x1b[31m\xff\n")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// D-400: another version of the program may know the endpoint, so its absence is an ordinary failure;
// a look-up that says so makes it permanent.
func TestPermanentErrors(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	for name, tt := range map[string]struct {
		e         *Endpoint
		err       error
		permanent bool
	}{
		"none":         {nil, nil, false},
		"not now":      {nil, errors.New("the database is away"), false},
		"not ever":     {nil, outbox.Permanent(errors.New("no")), true},
		"no URL":       {&Endpoint{URL: "canary"}, nil, false},
		"no secret":    {&Endpoint{URL: "https://example.com", Secrets: []string{"canary"}}, nil, false},
		"a password":   {&Endpoint{URL: "https://a:canary@example.com"}, nil, false},
		"other scheme": {&Endpoint{URL: "ftp://example.com/canary"}, nil, false},
	} {
		p := start(t, db, Options{Lookup: func(context.Context, string, *outbox.Message) (*Endpoint, error) { return tt.e, tt.err }})
		err := p.attempt("t")
		if err == nil || worker.IsPermanent(err) != tt.permanent || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
