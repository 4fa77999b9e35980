package watermill_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	wm "github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/watermill"
)

func wantStatus(t testing.TB, p *pawl.Pawl, id outbox.MessageID, status outbox.Status, failures int) {
	t.Helper()
	info, err := p.Outbox.Get(t.Context(), id)
	must(t, err)
	if info.Status != status || info.RetryCount != failures {
		t.Errorf("%s is %s after %d failed attempts, want %s after %d", id, info.Status, info.RetryCount, status, failures)
	}
}

// stored returns the messages that are not done.
func stored(t testing.TB, p *pawl.Pawl) []outbox.Info {
	t.Helper()
	all, err := engine.Collect(p.Outbox.List(t.Context(), outbox.ListOptions{Status: outbox.Ready}), 100)
	must(t, err)
	return all
}

// D-232: what was published in a transaction exists once that commits, and only then.
func TestPublisherTx(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		p, d := open(t, e, quick())
		pub := watermill.NewPublisher(p, watermill.PublisherOptions{})
		for _, commit := range []bool{false, true} {
			tx := begin(t, d)
			must(t, pub.WithTx(tx).Publish("t", message.NewMessage("", []byte(map[bool]string{true: "yes", false: "no"}[commit]))))
			if commit {
				must(t, tx.Commit())
			} else {
				must(t, tx.Rollback())
			}
		}
		all := stored(t, p)
		if len(all) != 1 || string(all[0].Payload) != "yes" || all[0].Queue != "t" {
			t.Errorf("stored %+v", all)
		}
		conn, err := d.SQL.Conn(t.Context())
		must(t, err)
		defer conn.Close()
		for name, tx := range map[string]any{"nil": nil, "a pool": d.SQL, "no transaction": conn} {
			if err := pub.WithTx(tx).Publish("t", message.NewMessage("", nil)); !errors.Is(err, pawl.ErrNotInTransaction) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := len(stored(t, p)); n != 1 {
			t.Errorf("%d messages", n)
		}
		must(t, pub.WithTx(nil).Close())
		must(t, pub.Publish("t")) // nothing
	})
}

// D-232: the metadata become headers, correlation id and ordering key.
func TestPublisherMessage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		p, _ := open(t, e, quick())
		pub := watermill.NewPublisher(p, watermill.PublisherOptions{
			Queue: watermill.InQueue("q"),
			Adjust: func(m *outbox.Message, published *message.Message) {
				if published.Metadata.Get("later") != "" {
					m.Due = time.Now().Add(time.Hour)
				}
			},
		})
		w := message.NewMessage("no uuid", []byte("x"))
		w.Metadata = message.Metadata{"h": "v", watermill.CorrelationIDMetadata: "c", watermill.OrderingKeyMetadata: "k", watermill.OriginalUUIDMetadata: "of another passage"}
		later := message.NewMessage(wm.NewULID(), nil)
		later.Metadata.Set("later", "1")
		must(t, pub.Publish("t", w, later))
		if w.Metadata.Get("h") != "v" || len(w.Metadata) != 4 {
			t.Errorf("the published message was changed: %v", w.Metadata)
		}
		for _, m := range stored(t, p) {
			switch {
			case m.Headers["later"] == "1" && time.Until(m.Due) > 59*time.Minute:
			case m.CorrelationID != "c" || m.OrderingKey != "k" || m.Queue != "q" || string(m.Payload) != "x" ||
				!maps.Equal(m.Headers, map[string]string{"h": "v", watermill.OriginalUUIDMetadata: "no uuid"}):
				t.Errorf("%+v", m)
			}
		}
	})
}

// D-232: all messages of a call are stored, or none; what is too large is refused by name.
func TestPublisherRefuses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		p, _ := open(t, e, quick())
		pub := watermill.NewPublisher(p, watermill.PublisherOptions{})
		large := message.NewMessage("", nil)
		large.Metadata.Set("h", strings.Repeat("x", 20_000))
		var invalid pawl.InvalidError
		if err := pub.Publish("t", message.NewMessage("", nil), large); !errors.As(err, &invalid) || !strings.Contains(err.Error(), "headers") {
			t.Errorf("large headers: %v", err)
		}
		if err := pub.Publish(strings.Repeat("t", 256), message.NewMessage("", nil)); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("a long topic: %v", err)
		}
		must(t, pub.Close())
		for _, pub := range []message.Publisher{pub, pub.WithTx(1)} {
			if err := pub.Publish("t", message.NewMessage("", nil)); !errors.Is(err, watermill.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		}
		if n := len(stored(t, p)); n != 0 {
			t.Errorf("%d messages", n)
		}
	})
}

// D-232: a message may be published again, to the same topic or another, as Watermill's poison
// queue does; with UUIDAsID its UUID is its id, and it is stored once.
func TestPublisherUUID(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		p, _ := open(t, e, quick())
		again := watermill.NewPublisher(p, watermill.PublisherOptions{})
		once := watermill.NewPublisher(p, watermill.PublisherOptions{UUIDAsID: true})
		sub := subscriber(t, p, watermill.SubscriberOptions{Worker: quick()})
		uuid, upper := wm.NewUUID(), strings.ToUpper(wm.NewUUID())
		for _, tt := range []struct {
			pub   *watermill.Publisher
			topic string
			uuid  string
			want  int
		}{
			{again, "again", uuid, 2}, {again, "again-elsewhere", uuid, 2}, {again, "again-text", "1", 2},
			{once, "once", uuid, 1}, {once, "once-upper", upper, 1}, {once, "once-text", "1", 2},
		} {
			for range 2 {
				must(t, tt.pub.Publish(tt.topic, message.NewMessage(tt.uuid, nil)))
			}
			messages := subscribe(t, sub, tt.topic)
			for range tt.want {
				m := next(t, messages)
				if m.UUID != tt.uuid || len(m.Metadata) != 0 {
					t.Errorf("%s: %q with %v, want %q", tt.topic, m.UUID, m.Metadata, tt.uuid)
				}
				m.Ack()
			}
			counts, err := engine.Collect(p.Outbox.List(t.Context(), outbox.ListOptions{Topic: tt.topic}), 100)
			must(t, err)
			if len(counts) != tt.want {
				t.Errorf("%s: %d messages, want %d", tt.topic, len(counts), tt.want)
			}
			if id, err := outbox.ParseMessageID(tt.uuid); err == nil && (counts[0].ID == id) != (tt.pub == once) {
				t.Errorf("%s: id %s", tt.topic, counts[0].ID)
			}
		}
	})
}
