package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/test/canary"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// D-8, D-227: what cannot be is refused with the option's name, and no part of a secret.
func TestOptionsAreValidated(t *testing.T) {
	one := &Endpoint{URL: "https://example.com"}
	none := func(context.Context, string, *outbox.Message) (*Endpoint, error) { return nil, nil }
	for name, tt := range map[string]struct {
		o     Options
		field string
	}{
		"nothing":         {Options{}, "Endpoint"},
		"both":            {Options{Endpoint: one, Lookup: none}, "Endpoint"},
		"no URL":          {Options{Endpoint: &Endpoint{URL: ":canary"}}, "Endpoint.URL"},
		"no host":         {Options{Endpoint: &Endpoint{URL: "https:///canary"}}, "Endpoint.URL"},
		"a file":          {Options{Endpoint: &Endpoint{URL: "file://canary/x"}}, "Endpoint.URL"},
		"a password":      {Options{Endpoint: &Endpoint{URL: "https://a:canary@example.com"}}, "Endpoint.URL"},
		"a secret":        {Options{Endpoint: &Endpoint{URL: one.URL, Secrets: []string{secret, "canary"}}}, "Endpoint.Secrets"},
		"a format":        {Options{Endpoint: &Endpoint{URL: one.URL, Format: "canary"}}, "Endpoint.Format"},
		"a header":        {Options{Endpoint: &Endpoint{URL: one.URL, Headers: map[string]string{"a": "canary\n"}}}, "Endpoint.Headers"},
		"a header's name": {Options{Endpoint: &Endpoint{URL: one.URL, Headers: map[string]string{"can ary": ""}}}, "Endpoint.Headers"},
		"a timeout":       {Options{Endpoint: one, Timeout: -1}, "Timeout"},
		"a short pause":   {Options{Endpoint: one, PauseAfter: 1}, "PauseAfter"},
		"a source":        {Options{Endpoint: one, Source: "a\nb"}, "Source"},
		"a prefix":        {Options{Endpoint: one, Allow: []netip.Prefix{{}}}, "Allow"},
		"a transport":     {Options{Endpoint: one, Transport: http.DefaultTransport, AllowPrivate: true}, "Transport"},
	} {
		_, err := New(nil, tt.o)
		var invalid pawl.InvalidError
		if !errors.As(err, &invalid) || invalid.Field() != tt.field || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := New(nil, Options{Endpoint: one})
	must(t, err)
	if s.opts.Timeout != 15*time.Second || s.opts.PauseAfter != 5*24*time.Hour || s.opts.Source != "pawl" {
		t.Errorf("%+v", s.opts)
	}
}

// D-227: neither logs, errors, reasons nor rows hold what is secret of an endpoint or a message,
// also not when the endpoint repeats it.
func TestNothingSecretIsTold(t *testing.T) {
	t.Parallel()
	db := dbtest.OpenSQLite(t)
	w := canary.New()
	key := "whsec_" + strings.Repeat("A", 24) + w.Plant("a secret")[:12] // 18 letters are planted
	r := newReceiver(t)
	closed := newReceiver(t)
	closed.Close()
	query := w.Plant("a query")
	header := w.Plant("a header")
	for status, url := range map[int]string{200: r.URL, 400: r.URL, 410: r.URL, 500: r.URL, 0: closed.URL, 1: "http://no-such-host.invalid"} {
		r.mu.Lock()
		r.says = func(rw http.ResponseWriter, q *http.Request) {
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(q.URL.RawQuery + " " + q.Header.Get("Authorization") + " " + q.Header.Get("X-Key") + " " + key))
		}
		r.mu.Unlock()
		topic := "t" + http.StatusText(status) + url[len(url)-4:]
		p := start(t, db, Options{Logger: w.Logger(), PauseAfter: time.Millisecond, Endpoint: &Endpoint{
			URL: url + "/?key=" + query, Secrets: []string{key}, Headers: map[string]string{"Authorization": "Bearer " + header, "X-Key": header},
		}})
		p.Sink.Handle(topic, once())
		id := p.enqueue(outbox.Message{Topic: topic, Payload: []byte(w.Plant("a payload")), Headers: map[string]string{"internal": w.Plant("a message's header")}})
		p.run()
		w.Saw("last_error", p.info(id).LastError)
		pauses, err := p.Admin.Pauses(t.Context())
		must(t, err)
		for _, one := range pauses {
			w.Saw("a reason", one.Reason)
		}
	}
	for _, query := range []string{"SELECT payload FROM outbox_message WHERE topic LIKE 'pawl.webhook%'", "SELECT payload FROM timer"} {
		rows, err := db.SQL.QueryContext(t.Context(), query)
		must(t, err)
		defer rows.Close()
		for rows.Next() {
			var text string
			must(t, rows.Scan(&text))
			w.Saw(query, text)
		}
		must(t, rows.Err())
	}
	w.Check(t)
}
