package webhook

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/webhooksig"
	"github.com/bravellian/pawl/outbox"
)

// sent delivers one message to a fresh endpoint and returns the request.
func sent(t *testing.T, e Endpoint, m outbox.Message) (outbox.MessageID, received) {
	t.Helper()
	r := newReceiver(t)
	e.URL = r.URL + "/hook?token=1"
	p := start(t, dbtest.OpenSQLite(t), Options{Endpoint: &e, Source: "/shop"})
	p.Sink.Handle(m.Topic, once())
	id := p.enqueue(m)
	p.run()
	if i := p.info(id); i.Status != outbox.Done {
		t.Fatalf("%s: %s", i.Status, i.LastError)
	}
	return id, r.one(t)
}

// D-222: the reference implementation verifies what is sent, with each of several secrets.
func TestStandardWebhooks(t *testing.T) {
	t.Parallel()
	const other = "whsec_bWFueSBrZXlzLCBvbmUgYWZ0ZXIgYW5vdGhlciE="
	private := "whsk_" + base64.StdEncoding.EncodeToString(make([]byte, 32))
	id, got := sent(t, Endpoint{Secrets: []string{secret, private, other}, Headers: map[string]string{"authorization": "Bearer x", "Webhook-Id": "mine"}}, outbox.Message{
		Topic: "order.created", Payload: []byte(`{"number": 7}`),
		Headers: map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Baggage": "a=b", "tracestate": "x\ny", "internal": "x"},
	})
	if string(got.body) != `{"number": 7}` || got.path != "/hook" {
		t.Errorf("%s %s", got.path, got.body)
	}
	for name, want := range map[string]string{
		"webhook-id": id.String(), "content-type": "application/json", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "baggage": "a=b",
		"tracestate": "", "internal": "", "authorization": "Bearer x", "user-agent": userAgent,
	} {
		if have := got.header.Get(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	for _, s := range []string{secret, other} {
		hook, err := standardwebhooks.NewWebhook(s)
		must(t, err)
		if err := hook.Verify(got.body, got.header); err != nil {
			t.Errorf("the reference implementation: %v", err)
		}
		if err := hook.Verify(append(got.body, ' '), got.header); err == nil {
			t.Error("the reference implementation takes another body")
		}
	}
	if n := len(strings.Fields(got.header.Get(webhooksig.HeaderSignature))); n != 3 {
		t.Errorf("%d signatures", n)
	}
}

// D-222: without a secret nothing is signed, also not by a header of the endpoint.
func TestUnsigned(t *testing.T) {
	t.Parallel()
	id, got := sent(t, Endpoint{Headers: map[string]string{"webhook-signature": "v1,AAAA"}}, outbox.Message{Topic: "t"})
	if got.header.Get("webhook-id") != id.String() || len(got.header.Values("webhook-signature")) != 0 {
		t.Errorf("%v", got.header)
	}
}

// D-222
func TestContentTypes(t *testing.T) {
	for _, tt := range []struct{ payload, header, want string }{
		{`{"a":1}`, "", "application/json"},
		{`7`, "", "application/json"},
		{"", "", "application/octet-stream"},
		{"\xff", "", "application/octet-stream"},
		{"a,b", "text/csv; charset=utf-8", "text/csv; charset=utf-8"},
		{"{}", "text/plain\nx: y", "application/json"},
	} {
		if got := contentType(&outbox.Message{Payload: []byte(tt.payload), Headers: map[string]string{"Content-Type": tt.header}}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.payload, got, tt.want)
		}
	}
}

// D-229: JSON is in data, everything else in data_base64, and what is sent is signed.
func TestCloudEventsStructured(t *testing.T) {
	t.Parallel()
	m := outbox.Message{
		Topic: "webhook.acme", CorrelationID: "c-7", Payload: []byte(`{"html":"<b>"}`),
		Headers: map[string]string{HeaderEventType: "order.created", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
	id, got := sent(t, Endpoint{Secrets: []string{secret}, Format: CloudEvents}, m)
	hook, err := standardwebhooks.NewWebhook(secret)
	must(t, err)
	must(t, hook.Verify(got.body, got.header))
	var event map[string]any
	must(t, json.Unmarshal(got.body, &event))
	at, err := time.Parse(time.RFC3339Nano, event["time"].(string))
	if err != nil || at.IsZero() {
		t.Errorf("time %v: %v", event["time"], err)
	}
	delete(event, "time")
	want := map[string]any{
		"specversion": "1.0", "id": id.String(), "source": "/shop", "type": "order.created", "correlationid": "c-7", "datacontenttype": "application/json",
		"traceparent": m.Headers["traceparent"], "data": map[string]any{"html": "<b>"},
	}
	if a, b := asJSON(t, event), asJSON(t, want); a != b {
		t.Errorf("event %s\nwant  %s", a, b)
	}
	if got.header.Get("content-type") != "application/cloudevents+json" || !strings.Contains(string(got.body), `"<b>"`) {
		t.Errorf("%s: %s", got.header.Get("content-type"), got.body)
	}

	_, got = sent(t, Endpoint{Format: CloudEvents}, outbox.Message{Topic: "t", Payload: []byte("\xff\x00")})
	if !strings.Contains(string(got.body), `"datacontenttype":"application/octet-stream","data_base64":"/wA="}`) {
		t.Errorf("%s", got.body)
	}
	_, got = sent(t, Endpoint{Format: CloudEvents}, outbox.Message{Topic: "t"})
	if strings.Contains(string(got.body), `data`) {
		t.Errorf("%s", got.body)
	}
}

// D-229: the attributes are headers, encoded as the binding says.
func TestCloudEventsBinary(t *testing.T) {
	t.Parallel()
	id, got := sent(t, Endpoint{Format: CloudEventsBinary}, outbox.Message{
		Topic: "t", CorrelationID: `Euro € "50 %"`, Payload: []byte("a,b"), Headers: map[string]string{"content-type": "text/csv"},
	})
	for name, want := range map[string]string{
		"ce-id": id.String(), "ce-specversion": "1.0", "ce-source": "/shop", "ce-type": "t", "content-type": "text/csv",
		"ce-correlationid": "Euro%20%E2%82%AC%20%2250%20%25%22", "ce-traceparent": "",
	} {
		if have := got.header.Get(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	if _, err := time.Parse(time.RFC3339Nano, got.header.Get("ce-time")); err != nil || string(got.body) != "a,b" {
		t.Errorf("%v: %q", err, got.body)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}
