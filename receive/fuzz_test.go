package receive_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/receive"
)

// nothing is an inbox that must get no message.
type nothing struct{ t *testing.T }

func (n nothing) Enqueue(_ context.Context, m inbox.Message) (bool, error) {
	n.t.Errorf("stored without a signature: %+v", m.Key)
	return false, nil
}

// D-303: no request that nobody signed is stored, makes a handler panic, or learns more than a status.
func FuzzReceive(f *testing.F) {
	f.Add("POST", "webhook-id", "m", "webhook-signature", "v1,AAAA", "1614265330", `{"type":"a"}`)
	f.Add("POST", "Stripe-Signature", "t=1614265330,v1=00", "", "", "", `{"id":"a"}`)
	f.Add("POST", "X-Hub-Signature-256", "sha256=00", "X-GitHub-Event", "push", "", "{}")
	f.Add("GET", "", "", "", "", "", "")
	f.Fuzz(func(t *testing.T, method, name1, value1, name2, value2, timestamp, body string) {
		for _, v := range []receive.Verifier{receive.StandardWebhooks(secret), receive.Stripe(secret), receive.GitHub(secret)} {
			h := handler(t, nothing{t}, receive.Options{Verify: v, MaxBody: 100, Headers: []string{"x-github-event", "cookie"}})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hook", strings.NewReader(body))
			r.Method = method
			r.Header = http.Header{http.CanonicalHeaderKey(name1): {value1}, http.CanonicalHeaderKey(name2): {value2}}
			r.Header.Set("webhook-timestamp", timestamp)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			want := http.StatusUnauthorized
			switch {
			case method != http.MethodPost:
				want = http.StatusMethodNotAllowed
			case len(body) > 100:
				want = http.StatusRequestEntityTooLarge
			}
			if w.Code != want || strings.TrimSpace(w.Body.String()) != http.StatusText(want) {
				t.Errorf("%d %q, want %d", w.Code, w.Body, want)
			}
		}
	})
}
