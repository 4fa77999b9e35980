package webhook

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/webhooksig"
	"github.com/bravellian/pawl/outbox"
)

// userAgent names the sender to endpoints.
const userAgent = "pawl-webhook"

const jsonType = "application/json"

// traceHeaders are the headers of a message that are passed on: W3C's trace context.
func traceHeaders() [3]string { return [...]string{"traceparent", "tracestate", "baggage"} }

// render returns the headers and the body of an attempt.
func (s *Sink) render(e *prepared, m *outbox.Message, at time.Time) (http.Header, []byte, error) {
	h := http.Header{}
	for name, value := range e.Headers {
		h.Set(name, value)
	}
	h.Set("User-Agent", userAgent)
	for _, name := range traceHeaders() {
		if value := headerOf(m, name); value != "" && !strings.ContainsFunc(value, unprintable) {
			h.Set(name, value)
		}
	}
	body := m.Payload
	switch e.Format {
	case CloudEvents:
		var err error
		if body, err = s.structured(m); err != nil {
			return nil, nil, err
		}
		h.Set("Content-Type", "application/cloudevents+json")
	case CloudEventsBinary:
		s.binary(h, m)
		h.Set("Content-Type", contentType(m))
	default:
		h.Set("Content-Type", contentType(m))
	}
	sign(h, e.keys, m.ID.String(), at, body)
	return h, body, nil
}

// sign adds the headers of Standard Webhooks; without a key there is no signature.
func sign(h http.Header, keys []webhooksig.Key, id string, at time.Time, body []byte) {
	h.Set(webhooksig.HeaderID, id)
	h.Set(webhooksig.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Del(webhooksig.HeaderSignature)
	if len(keys) > 0 {
		h.Set(webhooksig.HeaderSignature, webhooksig.Sign(keys, id, at, body))
	}
}

// eventType returns the type of the event.
func eventType(m *outbox.Message) string {
	if t := headerOf(m, HeaderEventType); t != "" {
		return t
	}
	return m.Topic
}

// contentType returns that of a payload.
func contentType(m *outbox.Message) string {
	if t := headerOf(m, HeaderContentType); t != "" && !strings.ContainsFunc(t, unprintable) {
		return t
	}
	if json.Valid(m.Payload) {
		return jsonType
	}
	return "application/octet-stream"
}

// event is a CloudEvent in JSON.
type event struct {
	SpecVersion     string          `json:"specversion"`
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	Type            string          `json:"type"`
	Time            string          `json:"time"`
	CorrelationID   string          `json:"correlationid,omitempty"`
	TraceParent     string          `json:"traceparent,omitempty"`
	TraceState      string          `json:"tracestate,omitempty"`
	DataContentType string          `json:"datacontenttype,omitempty"`
	Data            json.RawMessage `json:"data,omitempty"`
	DataBase64      []byte          `json:"data_base64,omitempty"`
}

// event returns the attributes of a message.
func (s *Sink) event(m *outbox.Message) event {
	return event{
		SpecVersion: "1.0", ID: m.ID.String(), Source: s.opts.Source, Type: eventType(m), Time: m.CreatedAt.UTC().Format(time.RFC3339Nano),
		CorrelationID: m.CorrelationID, TraceParent: headerOf(m, "traceparent"), TraceState: headerOf(m, "tracestate"),
	}
}

// structured returns a CloudEvent with the payload in it: JSON as it is, other bytes in base64.
func (s *Sink) structured(m *outbox.Message) ([]byte, error) {
	e := s.event(m)
	if len(m.Payload) > 0 {
		e.DataContentType = contentType(m)
		if isJSON(e.DataContentType) && json.Valid(m.Payload) {
			e.Data = m.Payload
		} else {
			e.DataBase64 = m.Payload
		}
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(&e)
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), err
}

// isJSON reports whether a media type is JSON, as CloudEvents understand it.
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (strings.HasSuffix(media, "/json") || strings.HasSuffix(media, "+json"))
}

// binary adds the attributes of a CloudEvent as headers.
func (s *Sink) binary(h http.Header, m *outbox.Message) {
	e := s.event(m)
	for name, value := range map[string]string{
		"specversion": e.SpecVersion, "id": e.ID, "source": e.Source, "type": e.Type, "time": e.Time, "correlationid": e.CorrelationID,
		"traceparent": e.TraceParent, "tracestate": e.TraceState,
	} {
		if value != "" {
			h.Set("ce-"+name, percent(value))
		}
	}
}

// percent encodes the value of a header as the HTTP binding of CloudEvents says: what is not
// printable ASCII, and blanks, quotes and percent signs.
func percent(value string) string {
	var b strings.Builder
	for i := range len(value) {
		if c := value[i]; c <= ' ' || c > '~' || c == '"' || c == '%' {
			const hex = "0123456789ABCDEF"
			b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unprintable reports whether HTTP allows a character in no header.
func unprintable(r rune) bool { return r < ' ' || r == 0x7f }

// isToken reports whether a name may be that of a header.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
