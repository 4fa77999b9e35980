package outbox_test

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-2, D-27, OBX-004, OBX-006, OBX-007, OBX-008, OBX-009, OBX-010, OBX-011:
// whatever a message holds, checking it does not panic; what is refused names
// its field, and what is accepted comes back byte for byte.
func FuzzMessage(f *testing.F) {
	db, err := sqlite.Open(filepath.Join(f.TempDir(), "fuzz.db"), sqlite.Options{Relaxed: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	dbtest.Migrate(f, db)
	o := parts.NewOutbox(db, worker.Options{MaxPayload: 1000})
	long := strings.Repeat("ü", 255)
	f.Add("topic", "correlation", "queue", "name", "value", []byte("payload"), 0, int64(0))
	f.Add("", "", "", "", "", []byte(nil), 101, int64(math.MaxInt64))
	f.Add(long, long, long, long, strings.Repeat("v", 16<<10), []byte{0, 0xff, 'x'}, -100, int64(-1))
	f.Add(long+"x", "\x00", "\xff", "a\x00b", "\xed\xa0\x80", bytes.Repeat([]byte{0}, 1001), -101, int64(1))
	f.Add("a\u2028<&>", "\U0010ffff", " q ", "<>&", "\"\\\u0000", []byte("\xef\xbb\xbf"), 100, int64(253402300799999999))
	f.Add(" ", "\n", "\t", " ", "", []byte("null"), 1, int64(253402300800000000))
	f.Fuzz(func(t *testing.T, topic, correlation, queue, name, value string, payload []byte, priority int, due int64) {
		m := outbox.Message{Topic: topic, CorrelationID: correlation, Queue: queue, Payload: payload, Priority: priority}
		if name+value != "" {
			m.Headers = map[string]string{name: value, "other": "1"}
		}
		if due != 0 {
			m.Due = time.UnixMicro(due)
		}
		id, err := o.Enqueue(t.Context(), m)
		if err != nil {
			checkRefusal(t, &m, err)
			return
		}
		if why := wrong(&m); why != "" {
			t.Fatalf("accepted %+v in spite of its %s", m, why)
		}
		i, err := o.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !sameMessage(&m, &i.Message) || i.ID != id || i.Status != outbox.Ready {
			t.Fatalf("stored %+v\nread   %+v", m, i)
		}
	})
}

func checkRefusal(t *testing.T, m *outbox.Message, err error) {
	t.Helper()
	var refused *engine.InvalidError
	if !errors.As(err, &refused) || !errors.Is(err, engine.ErrInvalid) {
		t.Fatalf("not a refusal but a failure: %v", err)
	}
	fields := []string{"topic", "correlation id", "queue", "priority", "payload", "due time", "header name", "header value", "headers"}
	if !slices.Contains(fields, refused.Field()) || !strings.Contains(err.Error(), refused.Field()) {
		t.Fatalf("refused without naming the field: %v", err)
	}
	if why := wrong(m); why == "" {
		t.Fatalf("refused %+v: %v", m, err)
	}
	if limit := map[string]int{"topic": 255, "correlation id": 255, "queue": 255, "header name": 255, "payload": 1000, "headers": 16 << 10}[refused.Field()]; refused.Limit() != 0 && refused.Limit() != limit {
		t.Fatalf("refused with limit %d: %v", refused.Limit(), err)
	}
}

// wrong says which field of a message is wrong, in words of its own.
func wrong(m *outbox.Message) string {
	text := func(s string, limit int) bool {
		return utf8.ValidString(s) && !strings.Contains(s, "\x00") && len([]rune(s)) <= limit
	}
	switch size := 0; {
	case strings.TrimSpace(m.Topic) == "" || !text(m.Topic, 255):
		return "topic"
	case !text(m.CorrelationID, 255):
		return "correlation id"
	case m.Queue != "" && strings.TrimSpace(m.Queue) == "" || !text(m.Queue, 255):
		return "queue"
	case m.Priority < -100 || m.Priority > 100:
		return "priority"
	case len(m.Payload) > 1000:
		return "payload"
	case m.Due.UTC().Year() > 9999:
		return "due time"
	default:
		for k, v := range m.Headers {
			if strings.TrimSpace(k) == "" || !text(k, 255) || !text(v, math.MaxInt) {
				return "headers"
			}
			size += len(k) + len(v)
		}
		if size > 16<<10 {
			return "headers"
		}
	}
	return ""
}

// D-10: reading a message id does not panic, and what is read is written the
// same in every form.
func FuzzParseMessageID(f *testing.F) {
	for _, s := range []string{"", "01a1f911-9cfe-8cb1-a7be-000000000008", "{01A1F911-9CFE-8CB1-A7BE-000000000008}", "urn:uuid:01a1f911-9cfe-8cb1-a7be-000000000008", "01a1f9119cfe8cb1a7be000000000008", "00000000-0000-0000-0000-000000000000", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := outbox.ParseMessageID(s)
		if err != nil {
			if !id.IsZero() {
				t.Fatalf("%v with an error", id)
			}
			return
		}
		again, err := outbox.ParseMessageID(id.String())
		if err != nil || again != id || len(id.String()) != 36 || id.String() != strings.ToLower(id.String()) {
			t.Fatalf("%q became %v, %v", s, again, err)
		}
		text, err := id.MarshalText()
		var back, scanned outbox.MessageID
		if err != nil || back.UnmarshalText(text) != nil || back != id {
			t.Fatalf("%q marshalled to %q and back to %v", s, text, back)
		}
		value, err := id.Value()
		if err != nil || scanned.Scan(value) != nil || scanned != id {
			t.Fatalf("%q became %v for a database and %v after it", s, value, scanned)
		}
	})
}

// sameMessage reports whether a message was stored as it was meant.
func sameMessage(want, got *outbox.Message) bool {
	queue, due := cmp.Or(want.Queue, outbox.DefaultQueue), want.Due.Truncate(time.Microsecond)
	if due.Unix() < 0 {
		due = time.Time{} // D-8: now
	}
	return want.Topic == got.Topic && string(want.Payload) == string(got.Payload) && want.CorrelationID == got.CorrelationID &&
		queue == got.Queue && want.Priority == got.Priority && maps.Equal(want.Headers, got.Headers) &&
		due.Equal(got.Due)
}
