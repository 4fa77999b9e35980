package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/outbox"
)

func noon() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) }

func payloads(msgs []outbox.Message) []string {
	all := []string{}
	for _, m := range msgs {
		all = append(all, m.Topic+"="+string(m.Payload))
	}
	return all
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name, in string
		o        Options
		want     []string
	}{
		{"raw", "{\"n\":1}\n{\"n\":2}\n", Options{Message: outbox.Message{Topic: "t"}}, []string{`t={"n":1}`, `t={"n":2}`}},
		{"last line without its end", "a\nb", Options{Message: outbox.Message{Topic: "t"}}, []string{"t=a", "t=b"}},
		{"an empty line is an empty payload", "a\n\nb\r\n", Options{Message: outbox.Message{Topic: "t"}}, []string{"t=a", "t=", "t=b"}},
		{"nothing", "", Options{Message: outbox.Message{Topic: "t"}}, []string{}},
		{"no topic means envelopes", `{"topic":"a","payload":"x"}`, Options{}, []string{"a=x"}},
		{"JSON payload as it stands", `{"topic":"a","payload":{"z": 1, "a" :2}}`, Options{}, []string{`a={"z": 1, "a" :2}`}},
		{"null is JSON too", `{"topic":"a","payload":null}`, Options{}, []string{"a=null"}},
		{"bytes", `{"topic":"a","payload_base64":"AAH/"}`, Options{}, []string{"a=\x00\x01\xff"}},
		{"blank lines between envelopes", "\n{\"topic\":\"a\",\"payload\":\"\"}\n \n", Options{}, []string{"a="}},
		{"a line's topic wins", `{"topic":"a","payload":1}` + "\n" + `{"payload":2}`,
			Options{Format: Envelope, Message: outbox.Message{Topic: "t"}}, []string{"a=1", "t=2"}},
		{"whole", "a\nb\n", Options{Format: Whole, Message: outbox.Message{Topic: "t"}}, []string{"t=a\nb\n"}},
		{"whole of nothing", "", Options{Format: Whole, Message: outbox.Message{Topic: "t"}}, []string{"t="}},
	} {
		msgs, err := Read(strings.NewReader(c.in), c.o)
		if err != nil || !reflect.DeepEqual(payloads(msgs), c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, payloads(msgs), err, c.want)
		}
	}
}

func TestEnvelopeFields(t *testing.T) {
	o := Options{Now: noon(), Message: outbox.Message{Queue: "q", CorrelationID: "flag", Headers: map[string]string{"a": "1", "b": "1"}}}
	in := `{"topic":"t","payload":"p","key":"k","due":"90m","correlation_id":"","headers":{"b":"2"},"queue":"r","priority":-5}`
	o.Format = Envelope
	msgs, err := Read(strings.NewReader(in), o)
	if err != nil {
		t.Fatal(err)
	}
	want := outbox.Message{
		ID: MessageID("t", "k"), Topic: "t", Payload: []byte("p"), Headers: map[string]string{"a": "1", "b": "2"},
		Due: noon().Add(90 * time.Minute), Queue: "r", Priority: -5,
	}
	if !reflect.DeepEqual(msgs, []outbox.Message{want}) {
		t.Errorf("got %+v, want %+v", msgs, want)
	}
}

func TestMistakes(t *testing.T) {
	long := strings.Repeat("é", 256)
	for _, c := range []struct {
		name, in string
		o        Options
		want     string
	}{
		{"broken JSON", "{\"topic\":\"a\",\"payload\":1}\n{\"topic\":", Options{}, "line 2: unreadable JSON"},
		{"bad byte", `{"topic":"a",]`, Options{}, "line 1: unreadable JSON at byte 14"},
		{"not an object", `[1]`, Options{}, "line 1: not a JSON object"},
		{"null", `null`, Options{}, "line 1: not a JSON object"},
		{"more than one", `{"topic":"a","payload":1} {}`, Options{}, "line 1: more text after the JSON object"},
		{"misspelt", `{"topic":"a","payload":1,"dew":"1s"}`, Options{}, `line 1: unknown field "dew"`},
		{"wrong type", `{"topic":5,"payload":1}`, Options{}, `line 1: field "topic": want a string`},
		{"wrong header", `{"topic":"a","payload":1,"headers":{"a":1}}`, Options{}, `want`},
		{"no topic", `{"payload":1}`, Options{}, "line 1: invalid argument: topic: empty"},
		{"blank topic", `{"topic":" ","payload":1}`, Options{}, "topic: empty or blank"},
		{"long topic", `{"topic":"` + long + `","payload":1}`, Options{}, "topic: more than 255 characters"},
		{"no payload", "\n" + `{"topic":"a"}`, Options{}, `line 2: no "payload"`},
		{"two payloads", `{"topic":"a","payload":1,"payload_base64":""}`, Options{}, "both"},
		{"not UTF-8", "{\"topic\":\"a\",\"payload\":\"\xff\"}", Options{}, "line 1: not valid UTF-8"},
		{"bad due", `{"topic":"a","payload":1,"due":"tomorrow"}`, Options{}, `due "tomorrow"`},
		{"bad priority", `{"topic":"a","payload":1,"priority":101}`, Options{}, "priority"},
		{"long raw payload", "a\n12345\n", Options{MaxPayload: 4, Message: outbox.Message{Topic: "t"}}, "line 2: invalid argument: payload: more than 4 bytes"},
		{"long JSON payload", `{"topic":"a","payload":"12345"}`, Options{MaxPayload: 4}, "line 1: invalid argument: payload: more than 4 bytes"},
		{"long whole", "12345", Options{Format: Whole, MaxPayload: 4, Message: outbox.Message{Topic: "t"}}, "payload: more than 4 bytes"},
		{"too much", "1234\n1234\n", Options{MaxTotal: 6, Message: outbox.Message{Topic: "t"}}, "line 2: too much input"},
		{"one key for two", "a\nb\n", Options{Key: "k", Message: outbox.Message{Topic: "t"}}, "--key names one message, the input has 2"},
	} {
		msgs, err := Read(strings.NewReader(c.in), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(msgs) > 0 {
			t.Errorf("%s: %d messages, %v; want an error with %q", c.name, len(msgs), err, c.want)
		}
	}
}

func TestKeys(t *testing.T) {
	const id = "6ba7b814-9dad-11d1-80b4-00c04fd430c8"
	if got := MessageID("t", id).String(); got != id {
		t.Errorf("a UUID became %s", got)
	}
	a, b := MessageID("t", "order-1"), MessageID("u", "order-1")
	if a == b || a != MessageID("t", "order-1") || a.IsZero() {
		t.Errorf("topic t: %s, topic u: %s", a, b)
	}
}

// FuzzRead feeds all formats: no input may panic, be changed in silence, pass
// without validation, or fail without naming an existing line.
func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"n\":1}\n\r\n"), "t")
	f.Add([]byte(`{"topic":"a","payload":{"a":[1]},"due":"1s","headers":{"a":"b"},"key":"k"}`), "")
	f.Add([]byte(`{"topic":"a","payload_base64":"AAE=","priority":3}`), "")
	f.Fuzz(func(t *testing.T, in []byte, topic string) {
		for _, format := range []Format{Auto, Raw, Envelope, Whole} {
			o := Options{Format: format, Message: outbox.Message{Topic: topic}, MaxPayload: 1 << 10, Now: noon()}
			msgs, err := Read(bytes.NewReader(in), o)
			checkError(t, in, err)
			for _, m := range msgs {
				if err := m.Validate(); err != nil {
					t.Errorf("%s: passed unvalidated: %v", format, err)
				}
			}
			if err == nil && format == Raw {
				checkRaw(t, in, msgs)
			}
			if err == nil && format == Envelope {
				checkAgain(t, o, msgs)
			}
		}
	})
}

func checkError(t *testing.T, in []byte, err error) {
	var line *LineError
	if !errors.As(err, &line) {
		return
	}
	if lines := bytes.Count(in, []byte("\n")) + 1; line.Line < 1 || line.Line > lines {
		t.Errorf("line %d of %d: %v", line.Line, lines, err)
	}
}

func checkRaw(t *testing.T, in []byte, msgs []outbox.Message) {
	var out []byte
	for _, m := range msgs {
		out = append(append(out, m.Payload...), '\n')
	}
	want := bytes.ReplaceAll(in, []byte("\r\n"), []byte("\n"))
	if len(want) > 0 && !bytes.HasSuffix(want, []byte("\n")) {
		want = append(want, '\n')
	}
	if !bytes.Equal(out, want) {
		t.Errorf("%q became %q", want, out)
	}
}

// checkAgain writes messages as envelopes and reads them back.
func checkAgain(t *testing.T, o Options, msgs []outbox.Message) {
	var lines bytes.Buffer
	for _, m := range msgs {
		e := envelope{
			Topic: &m.Topic, PayloadBase64: m.Payload, CorrelationID: &m.CorrelationID, Headers: m.Headers, Queue: &m.Queue, Priority: &m.Priority,
		}
		if e.PayloadBase64 == nil {
			e.PayloadBase64 = []byte{}
		}
		if !m.ID.IsZero() {
			e.Key = m.ID.String()
		}
		if !m.Due.IsZero() {
			e.Due = m.Due.Format(time.RFC3339Nano)
		}
		line, err := json.Marshal(struct {
			*envelope
			Payload *int `json:"payload,omitempty"`
		}{envelope: &e})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	again, err := Read(&lines, o)
	if err != nil {
		t.Fatalf("read again: %v", err)
	}
	for i, m := range msgs {
		if a := again[i]; a.ID != m.ID || a.Topic != m.Topic || !bytes.Equal(a.Payload, m.Payload) || !a.Due.Equal(m.Due) ||
			a.Queue != m.Queue || a.Priority != m.Priority || a.CorrelationID != m.CorrelationID || len(a.Headers) != len(m.Headers) {
			t.Errorf("message %d: %+v came back as %+v", i, m, a)
		}
	}
}
