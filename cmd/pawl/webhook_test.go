//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/internal/test/canary"
)

// hook is an endpoint that remembers what it got.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	got    []string // id, content type, number of signatures, body
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{status: http.StatusNoContent}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, r.Header.Get("Content-Type")+" "+number(int64(len(strings.Fields(r.Header.Get("Webhook-Signature")))))+" "+string(body))
		w.WriteHeader(h.status)
	}))
	t.Cleanup(h.Close)
	return h
}

// take returns what came since it was asked before.
func (h *hook) take() (got []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	got, h.got = h.got, nil
	return got
}

// D-222, D-223, D-227: payloads go to the endpoint, signed by the secrets of a variable, and neither
// secrets nor the query are printed.
func TestWorkWithWebhook(t *testing.T) {
	d := onSQLite(t)
	h := newHook(t)
	w := canary.New()
	secret := "whsec_" + strings.Repeat("A", 14) + w.Plant("a secret")
	t.Setenv("HOOK_SECRET", secret+" "+secret)
	url := h.URL + "/?token=" + w.Plant("a query")
	work := func(more ...string) result {
		t.Helper()
		r := d.run("", append([]string{"work", "--topic", "t", "--webhook", url, "--drain"}, more...)...)
		w.Saw(strings.Join(more, " "), r.stdout+r.stderr)
		return r
	}
	d.must(`{"n":1}`, "enqueue", "--topic", "t")
	if r := work("--allow-private", "--secret-env", "HOOK_SECRET"); r.code != exitOK || !strings.Contains(r.stderr, "1 done, 0 retried, 0 failed") {
		t.Errorf("%+v", r)
	}
	d.must(`{"n":2}`, "enqueue", "--topic", "t")
	if r := work("--allow-private", "--webhook-format", "cloudevents-binary", "--quiet"); r != (result{}) {
		t.Errorf("%+v", r)
	}
	if got := strings.Join(h.take(), ", "); got != `application/json 2 {"n":1}, application/json 0 {"n":2}` {
		t.Error(got)
	}
	d.must(`{"n":3}`, "enqueue", "--topic", "t")
	if r := work("--verbose"); !strings.Contains(r.stderr, "the address is not public") || len(h.take()) != 0 {
		t.Errorf("a private address: %+v", r)
	}
	h.status = http.StatusBadGateway
	d.must(`{"n":4}`, "enqueue", "--topic", "t")
	if r := work("--allow-private", "--max-attempts", "1", "--json"); !strings.Contains(r.stderr, `"failed":1`) {
		t.Errorf("%+v", r)
	}
	w.Check(t)
}

// A webhook goes out for each store of a fleet.
func TestWorkWithWebhookOnAFleet(t *testing.T) {
	_, d := tenants(t)
	h := newHook(t)
	r := d.run("", "work", "--topic", "t", "--webhook", h.URL, "--allow-private", "--drain")
	if got := h.take(); len(got) != 2 || !strings.Contains(r.stderr, "2 done, 0 retried") {
		t.Errorf("%q: %+v", got, r)
	}
}

func TestWorkWebhookMistakes(t *testing.T) {
	t.Setenv("EMPTY", " ")
	t.Setenv("BAD", "canary")
	d := onSQLite(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--topic TOPIC with --exec COMMAND or --webhook URL"},
		{[]string{"--exec", "cat", "--webhook", "https://example.com"}, "can't be used together"},
		{[]string{"--exec", "cat", "--allow-private"}, "go with --webhook"},
		{[]string{"--webhook", "example.com/canary"}, "--webhook: invalid argument: Endpoint.URL"},
		{[]string{"--webhook", "https://example.com", "--secret-env", "EMPTY"}, "--secret-env: EMPTY has no secret"},
		{[]string{"--webhook", "https://example.com", "--secret-env", "BAD"}, "Endpoint.Secrets"},
		{[]string{"--webhook", "https://example.com", "--webhook-format", "xml"}, "--webhook-format"},
	} {
		r := d.run("", append([]string{"work", "--topic", "t", "--drain"}, c.args...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, c.want) || strings.Contains(r.stderr, "canary") {
			t.Errorf("%q: %+v, want %q", c.args, r, c.want)
		}
	}
}
