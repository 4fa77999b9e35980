package receive_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/canary"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/webhooksig"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/receive"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// program is a pawl that stores webhooks.
type program struct {
	*pawl.Pawl
	http.Handler
	t *testing.T
}

func open(t *testing.T, e dbtest.Engine, o receive.Options) *program {
	t.Helper()
	p, err := pawl.New(e.Open(t).DB, pawl.Options{StopWhenEmpty: true, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return &program{p, handler(t, p.Inbox, o), t}
}

func handler(t *testing.T, in receive.Inbox, o receive.Options) http.Handler {
	t.Helper()
	if o.Source == "" {
		o.Source = "shop"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Topic == "" && o.TopicOf == nil {
		o.Topic = "shop.event"
	}
	h, err := receive.New(in, o)
	must(t, err)
	return h
}

// post sends a request and returns the answer.
func post(h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// signed are the headers of Standard Webhooks.
func signed(t *testing.T, id string, at time.Time, body string) []string {
	t.Helper()
	key, err := webhooksig.ParseSigning(secret)
	must(t, err)
	return []string{
		webhooksig.HeaderID, id, webhooksig.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10),
		webhooksig.HeaderSignature, webhooksig.Sign([]webhooksig.Key{key}, id, at, []byte(body)),
	}
}

func hexMAC(secret, text string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// D-228: what is verified is stored once and reaches its handler, with the headers that are kept.
func TestReceive(t *testing.T) { dbtest.Each(t, testReceive) }

func testReceive(t *testing.T, e dbtest.Engine) {
	p := open(t, e, receive.Options{
		Verify: receive.StandardWebhooks(secret), TopicOf: func(e receive.Event) string { return "shop." + e.Type }, Headers: []string{"X-Region", "webhook-signature", "authorization"},
	})
	body := `{"type":"order.created","number":7}`
	header := append(signed(t, "msg_1", time.Now(), body), "Content-Type", "application/json", "Traceparent", "00-a", "X-Region", "eu", "X-Other", "x", "Authorization", "Bearer x")
	for range 3 {
		if w := post(p, body, header...); w.Code != http.StatusNoContent {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	var got []*inbox.Message
	p.HandleInbox("shop.order.created", func(_ context.Context, m *inbox.Message) error {
		got = append(got, m)
		return nil
	})
	must(t, p.Run(t.Context()))
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}
	m := got[0]
	want := map[string]string{"content-type": "application/json", "traceparent": "00-a", "x-region": "eu", receive.HeaderEventType: "order.created"}
	if string(m.Payload) != body || m.Source != "shop" || m.MessageID != "msg_1" || fmt.Sprint(m.Headers) != fmt.Sprint(want) {
		t.Errorf("%+v", m)
	}
	// It is stored, so one that comes after it was handled is acknowledged, too.
	if w := post(p, body, header...); w.Code != http.StatusNoContent {
		t.Errorf("%d", w.Code)
	}
}

// D-228: what is not the sender's is refused without a reason, and is not stored.
func TestRefused(t *testing.T) {
	t.Parallel()
	p := open(t, dbtest.Engine{Open: dbtest.OpenSQLite}, receive.Options{Verify: receive.StandardWebhooks(secret), MaxBody: 100})
	now := time.Now()
	for name, tt := range map[string]struct {
		body   string
		header []string
		want   int
	}{
		"unsigned":              {"{}", nil, 401},
		"another body":          {"{} ", signed(t, "msg_1", now, "{}"), 401},
		"another id":            {"{}", append(signed(t, "msg_1", now, "{}"), webhooksig.HeaderID, "msg_2"), 401},
		"a replay":              {"{}", signed(t, "msg_1", now.Add(-6*time.Minute), "{}"), 401},
		"the future":            {"{}", signed(t, "msg_1", now.Add(6*time.Minute), "{}"), 401},
		"too large":             {strings.Repeat("x", 101), signed(t, "msg_1", now, strings.Repeat("x", 101)), 413},
		"a long id":             {"{}", signed(t, strings.Repeat("x", 300), now, "{}"), 400},
		"as large as it may be": {strings.Repeat("x", 100), signed(t, "msg_3", now, strings.Repeat("x", 100)), 204},
	} {
		w := post(p, tt.body, tt.header...)
		text := strings.TrimSpace(w.Body.String())
		if w.Code != tt.want || text != "" && text != http.StatusText(tt.want) {
			t.Errorf("%s: %d %q, want %d", name, w.Code, text, tt.want)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodHead} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(method, "/hook", nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	all, err := engine.Collect(p.Inbox.List(t.Context(), inbox.ListOptions{}), 100)
	must(t, err)
	if len(all) != 1 || all[0].MessageID != "msg_3" {
		t.Errorf("stored %+v", all)
	}
}

// store is an inbox that fails.
type store func(inbox.Message) (bool, error)

func (s store) Enqueue(_ context.Context, m inbox.Message) (bool, error) { return s(m) }

// D-228: nothing is acknowledged before it is known to be stored.
func TestAcknowledgedAfterTheCommit(t *testing.T) {
	anyone := receive.VerifierFunc(func(h http.Header, _ []byte) (receive.Event, error) { return receive.Event{ID: h.Get("id")}, nil })
	for _, tt := range []struct {
		err  error
		want int
	}{{nil, 204}, {pawl.ErrCommitUnknown, 503}, {errors.New("anything"), 503}, {pawl.ErrInvalid, 400}} {
		called := false
		h := handler(t, store(func(inbox.Message) (bool, error) { called = true; return false, tt.err }), receive.Options{Verify: anyone})
		w := post(h, "{}", "id", "1")
		if w.Code != tt.want || !called || (w.Header().Get("Retry-After") != "") != (tt.want == 503) {
			t.Errorf("%v: %d, Retry-After %q", tt.err, w.Code, w.Header().Get("Retry-After"))
		}
	}
	p := open(t, dbtest.Engine{Open: dbtest.OpenSQLite}, receive.Options{Verify: anyone})
	if w := post(p, "{}"); w.Code != http.StatusBadRequest {
		t.Errorf("without an id: %d", w.Code)
	}
}

// broken is a body that ends with an error.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestBrokenBody(t *testing.T) {
	h := handler(t, store(func(inbox.Message) (bool, error) { t.Error("stored"); return true, nil }), receive.Options{Verify: receive.StandardWebhooks(secret)})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", broken{}))
	if w.Code != http.StatusBadRequest {
		t.Errorf("%d", w.Code)
	}
}

// D-228: the vector of GitHub's documentation. The delivery's id is not signed, so the same body
// under another one is no other message.
func TestGitHub(t *testing.T) {
	t.Parallel()
	const (
		key  = "It's a Secret to Everybody"
		body = "Hello, World!"
		sign = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	)
	var types []string
	p := open(t, dbtest.Engine{Open: dbtest.OpenSQLite}, receive.Options{
		Verify: receive.GitHub("new", key), TopicOf: func(e receive.Event) string { types = append(types, e.Type); return "github" }, Headers: []string{"x-github-delivery"},
	})
	for _, delivery := range []string{"72d3162e", "72d3162e", "forged"} {
		if w := post(p, body, "X-Hub-Signature-256", sign, "X-GitHub-Delivery", delivery, "X-GitHub-Event", "push"); w.Code != http.StatusNoContent {
			t.Errorf("%s: %d", delivery, w.Code)
		}
	}
	messages, err := engine.Collect(p.Outbox.List(t.Context(), outbox.ListOptions{Topic: "github"}), 100)
	must(t, err)
	if len(messages) != 1 || messages[0].Headers["x-github-delivery"] != "72d3162e" || types[0] != "push" {
		t.Errorf("%d messages, types %v", len(messages), types)
	}
	for _, wrong := range []string{"", sign + "0", "sha256=" + strings.Repeat("0", 64), strings.TrimPrefix(sign, "sha256="), "sha256="} {
		if w := post(p, body, "X-Hub-Signature-256", wrong, "X-GitHub-Delivery", "1"); w.Code != http.StatusUnauthorized {
			t.Errorf("%q: %d", wrong, w.Code)
		}
	}
}

// D-228: Stripe's signatures, one of several; a repeated request has another time and signature.
func TestStripe(t *testing.T) {
	t.Parallel()
	const key, other, body = "whsec_test_secret", "whsec_old", `{"id":"evt_1","object":"event","type":"charge.succeeded"}`
	p := open(t, dbtest.Engine{Open: dbtest.OpenSQLite}, receive.Options{Verify: receive.Stripe(other, key), TopicOf: func(e receive.Event) string { return "stripe." + e.Type }})
	sign := func(key string, at time.Time, body string) string {
		unix := strconv.FormatInt(at.Unix(), 10)
		return "t=" + unix + ",v1=" + strings.Repeat("0", 64) + ",v1=" + hexMAC(key, unix+"."+body) + ",v0=6ffbb59b"
	}
	now := time.Now()
	for name, tt := range map[string]struct {
		body, header string
		want         int
	}{
		"first":        {body, sign(key, now, body), 204},
		"again":        {body + " ", sign(other, now.Add(time.Minute), body+" "), 204},
		"old":          {body, sign(key, now.Add(-6*time.Minute), body), 401},
		"future":       {body, sign(key, now.Add(6*time.Minute), body), 401},
		"unknown key":  {body, sign("whsec_unknown", now, body), 401},
		"another body": {body + "x", sign(key, now, body), 401},
		"another time": {body, strings.Replace(sign(key, now, body), "t=", "t=1", 1), 401},
		"only v0":      {body, "t=" + strconv.FormatInt(now.Unix(), 10) + ",v0=" + hexMAC(key, body), 401},
		"none":         {body, "", 401},
		"no id":        {`{"type":"x"}`, sign(key, now, `{"type":"x"}`), 400},
		"no JSON":      {`x`, sign(key, now, `x`), 400},
	} {
		if w := post(p, tt.body, "Stripe-Signature", tt.header); w.Code != tt.want {
			t.Errorf("%s: %d, want %d", name, w.Code, tt.want)
		}
	}
	i, err := p.Inbox.Get(t.Context(), inbox.Key{Source: "shop", MessageID: "evt_1"})
	must(t, err)
	if i.Deliveries != 2 || i.Mismatches != 0 {
		t.Errorf("%+v", i)
	}
}

// D-8, D-227: what cannot be is refused with the option's name, and no part of a secret.
func TestOptionsAreValidated(t *testing.T) {
	fine := receive.Options{Source: "s", Topic: "t", Verify: receive.GitHub("x")}
	for field, change := range map[string]func(o *receive.Options){
		"Source":         func(o *receive.Options) { o.Source = "" },
		"Topic":          func(o *receive.Options) { o.Topic = "" },
		"Verify":         func(o *receive.Options) { o.Verify = nil },
		"MaxBody":        func(o *receive.Options) { o.MaxBody = -1 },
		"Verify.secrets": func(o *receive.Options) { o.Verify = receive.StandardWebhooks(secret, "whsec_canary") },
	} {
		o := fine
		change(&o)
		_, err := receive.New(nil, o)
		var invalid pawl.InvalidError
		if !errors.As(err, &invalid) || invalid.Field() != field || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, v := range []receive.Verifier{receive.StandardWebhooks(), receive.GitHub(), receive.GitHub(""), receive.Stripe("a", "")} {
		o := fine
		o.Verify = v
		if _, err := receive.New(nil, o); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%v", err)
		}
		if _, err := v.Verify(http.Header{}, nil); err == nil {
			t.Error("verified without a secret")
		}
	}
	both := fine
	both.TopicOf = func(receive.Event) string { return "" }
	if _, err := receive.New(nil, both); err == nil {
		t.Error("both topics are taken")
	}
}

// D-227: neither logs nor answers hold signatures, secrets, headers or bodies.
func TestNothingSecretIsTold(t *testing.T) {
	t.Parallel()
	w := canary.New()
	p := open(t, dbtest.Engine{Open: dbtest.OpenSQLite}, receive.Options{
		Logger: w.Logger(), Verify: receive.Stripe(w.Plant("a secret")), Headers: []string{"x-key", "x-signature", "stripe-signature"}, MaxBody: 200,
	})
	body := `{"id":"evt_1","key":"` + w.Plant("a body") + `"}`
	unix := strconv.FormatInt(time.Now().Unix(), 10)
	right := "t=" + unix + ",v1=" + hexMAC(w.Plant("a secret"), unix+"."+body)
	for _, header := range []string{right, "t=1,v1=00", w.Plant("a signature"), "t=" + w.Plant("a time") + ",v1=00"} {
		for _, body := range []string{body, body + strings.Repeat(" ", 200)} {
			answer := post(p, body, "Stripe-Signature", header, "X-Key", w.Plant("a header"))
			w.Saw("answer", answer.Body.String()+fmt.Sprint(answer.Header()))
		}
	}
	messages, err := engine.Collect(p.Outbox.List(t.Context(), outbox.ListOptions{Topic: "shop.event"}), 100)
	must(t, err)
	if len(messages) != 1 || messages[0].Headers["x-key"] != w.Plant("a header") || messages[0].Headers["stripe-signature"] != "" {
		t.Errorf("%d messages", len(messages))
	}
	w.Check(t)
}
