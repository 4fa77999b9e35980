package pawltest_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/timer"
)

type mail struct {
	To    string `json:"to"`
	Order int64  `json:"order"`
}

// Every matcher tells what fits from what does not, on both sides of its border.
func TestMatchers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(testing.TB, ...pawltest.Options) *pawltest.DB) {
		d := open(t)
		due := time.Date(2126, 3, 4, 5, 6, 7, 123456789, time.UTC)
		id, err := d.Outbox.Enqueue(t.Context(), outbox.Message{
			Topic: "mail", Payload: []byte(`{"order": 9007199254740993, "to":"ada"}`), CorrelationID: "c-1", Queue: "slow", Due: due, Headers: map[string]string{"lang": "en"}, Priority: -3,
		})
		check(t, err)
		for name, c := range map[string]struct{ fits, not pawltest.Matcher }{
			"topic":       {pawltest.Topic("mail"), pawltest.Topic("mails")},
			"queue":       {pawltest.Queue("slow"), pawltest.Queue(outbox.DefaultQueue)},
			"correlation": {pawltest.CorrelationID("c-1"), pawltest.CorrelationID("")},
			"header":      {pawltest.Header("lang", "en"), pawltest.Header("lang", "de")},
			"no header":   {pawltest.Header("lang", "en"), pawltest.Header("length", "")},
			"key":         {pawltest.Key(""), pawltest.Key("k")},
			"due":         {pawltest.Due(due, 0), pawltest.Due(due.Add(time.Microsecond), 0)},
			"after":       {pawltest.Due(due.Add(-time.Hour), time.Hour), pawltest.Due(due.Add(-time.Hour), time.Hour-time.Microsecond)},
			"before":      {pawltest.Due(due.Add(time.Hour), time.Hour), pawltest.Due(due.Add(time.Hour), time.Hour-time.Microsecond)},
			"body":        {pawltest.Body(`{"order": 9007199254740993, "to":"ada"}`), pawltest.Body(`{"order":9007199254740993,"to":"ada"}`)},
			"payload":     {pawltest.Payload(func(p []byte) bool { return len(p) == 39 }), pawltest.Payload(func(p []byte) bool { return len(p) != 39 })},
			"json":        {pawltest.JSON(mail{"ada", 9007199254740993}), pawltest.JSON(mail{"ada", 9007199254740992})},
			"json fields": {pawltest.JSON(map[string]any{"to": "ada", "order": int64(9007199254740993)}), pawltest.JSON(map[string]any{"to": "ada"})},
			"json body":   {pawltest.JSONBody(func(m mail) bool { return m.To == "ada" }), pawltest.JSONBody(func(m mail) bool { return m.To == "bob" })},
			"json type":   {pawltest.JSONBody(func(map[string]any) bool { return true }), pawltest.JSONBody(func([]int) bool { return true })},
		} {
			if got := d.AssertEnqueued(t, pawltest.Topic("mail"), c.fits); got.ID != id || got.Priority != -3 || !got.Due.Equal(due.Truncate(time.Microsecond)) {
				t.Errorf("%s: found %+v", name, got)
			}
			if got := d.Enqueued(t, c.not); len(got) > 0 {
				t.Errorf("%s: fits all the same: %+v", name, got)
			}
		}
	})
}

// What was there instead is in the failure.
func TestFailuresShowWhatWasEnqueued(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(testing.TB, ...pawltest.Options) *pawltest.DB) {
		d := open(t)
		fails(t, func(t testing.TB) { d.AssertEnqueued(t, pawltest.Topic("mail")) }, `no message was enqueued with topic "mail"`, "nothing was enqueued")
		order := enqueue(t, d, "order", `{"order":7}`)
		mailed := enqueue(t, d, "mail", `{"to":"bob"}`)
		enqueue(t, d, "blob", "\xff\x00"+strings.Repeat("long", 100))
		fails(t, func(t testing.TB) { d.AssertEnqueued(t, pawltest.Topic("mail"), pawltest.JSON(mail{"ada", 7})) },
			`no message was enqueued with topic "mail", payload JSON {"to":"ada","order":7}`, "there are 3:",
			"order "+order.String()+` ready: {"order":7}`+"\t(other topic, payload)", "mail "+mailed.String()+` ready: {"to":"bob"}`+"\t(other payload)", `blob`, `"\xff\x00longlong`, "… (402 bytes)")
		fails(t, func(t testing.TB) { d.AssertNotEnqueued(t, pawltest.Topic("mail")) }, `1 message enqueued with topic "mail", want none`, `{"to":"bob"}`+"\t(fits)")
		fails(t, func(t testing.TB) { d.Enqueued(t, pawltest.JSON(func() {})) }, "cannot match", "unsupported type")
		fails(t, func(t testing.TB) { d.AssertNotEnqueued(t, pawltest.Matcher{}) }, "cannot match")
		if text := failure(t, func(t testing.TB) {
			d.AssertEnqueued(t, pawltest.Topic("mail"))
			d.AssertNotEnqueued(t, pawltest.Topic("sms"))
		}); text != "" {
			t.Errorf("it failed: %s", text)
		}
	})
}

// A long list is cut, and what nearly fits is at its top.
func TestFailuresOfManyMessages(t *testing.T) {
	t.Parallel()
	d := pawltest.New(t)
	for n := range 50 {
		enqueue(t, d, fmt.Sprintf("topic-%d", n), "same")
	}
	text := failure(t, func(t testing.TB) { d.AssertEnqueued(t, pawltest.Topic("topic-49"), pawltest.Body("other")) })
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 23 || !strings.HasPrefix(lines[2], "\ttopic-49 ") || lines[22] != "\t… and 30 more" {
		t.Errorf("the list is\n%s", text)
	}
}

// What a transaction has enqueued is seen in it, by that alone, until it commits;
// after a rollback nothing remains.
func TestInATransaction(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(testing.TB, ...pawltest.Options) *pawltest.DB) {
		d := open(t)
		for name, begin := range transactions(t, d) {
			for _, commit := range []bool{false, true} {
				topic := fmt.Sprintf("mail %s %v", name, commit)
				tx, look, end := begin()
				if got := d.Enqueued(t, pawltest.In(look)); len(got) > 0 {
					t.Errorf("%s: a fresh transaction has enqueued %v", topic, got)
				}
				fails(t, func(t testing.TB) { d.AssertEnqueued(t, pawltest.In(look), pawltest.Topic(topic)) }, "in this transaction", "nothing was enqueued in this transaction")
				id, err := d.Outbox.EnqueueTx(t.Context(), tx, outbox.Message{Topic: topic, Payload: []byte("x")})
				check(t, err)
				if got := d.AssertEnqueued(t, pawltest.In(look), pawltest.Topic(topic)); got.ID != id {
					t.Errorf("%s: found %v, want %v", topic, got.ID, id)
				}
				d.AssertNotEnqueued(t, pawltest.In(look), pawltest.Topic("other"))
				d.AssertNotEnqueued(t, pawltest.Topic(topic))
				fails(t, func(t testing.TB) { d.AssertNotEnqueued(t, pawltest.In(look)) }, "1 message enqueued in this transaction, want none", id.String())
				check(t, end(commit))
				if commit {
					d.AssertEnqueued(t, pawltest.Topic(topic))
				} else {
					d.AssertNotEnqueued(t, pawltest.Topic(topic))
				}
				fails(t, func(t testing.TB) { d.AssertEnqueued(t, pawltest.In(look)) }, "pawltest:") // it is over
			}
		}
		fails(t, func(t testing.TB) { d.AssertEnqueued(t, pawltest.In(struct{}{})) }, "struct {} cannot query")
	})
}

// The transaction that pawl hands to a handler of the inbox can be asked as well.
func TestInAHandlersTransaction(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(testing.TB, ...pawltest.Options) *pawltest.DB) {
		d := open(t)
		d.HandleInboxTx("paid", func(ctx context.Context, tx outbox.Tx, _ *inbox.Message) error {
			if _, err := d.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "ship"}); err != nil {
				return err
			}
			if got := d.Enqueued(t, pawltest.In(tx)); len(got) != 1 || got[0].Topic != "ship" {
				t.Errorf("the handler has enqueued %v", got)
			}
			return nil
		})
		d.Handle("ship", func(context.Context, *outbox.Message) error { return nil })
		added, err := d.Inbox.Enqueue(t.Context(), inbox.Message{Key: inbox.Key{Source: "bank", MessageID: "1"}, Topic: "paid"})
		if err != nil || !added {
			t.Fatal(added, err)
		}
		if r := d.MustDrain(t); len(r.Handled) != 2 {
			t.Errorf("handled %v", r.Handled)
		}
	})
}

// Timers are looked for among those that have not fired.
func TestTimers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(testing.TB, ...pawltest.Options) *pawltest.DB) {
		d := open(t)
		due := d.Clock.Now().Add(time.Hour)
		fails(t, func(t testing.TB) { d.AssertTimer(t, pawltest.Key("order/7")) }, `no timer was scheduled with key "order/7"`, "nothing was scheduled")
		for name, begin := range transactions(t, d) {
			key := "order/" + name
			tx, look, end := begin()
			id, err := d.Timers.ScheduleTx(t.Context(), tx, timer.Timer{Topic: "expire", Key: key, Due: due, Payload: []byte("7")})
			check(t, err)
			d.AssertTimer(t, pawltest.In(look), pawltest.Key(key))
			d.AssertNoTimer(t, pawltest.Key(key))
			check(t, end(true))
			got := d.AssertTimer(t, pawltest.Topic("expire"), pawltest.Key(key), pawltest.Due(due, 0), pawltest.Body("7"))
			if got.ID != id || got.Key != key || got.Topic != "expire" || string(got.Payload) != "7" || got.Queue != outbox.DefaultQueue {
				t.Errorf("found %+v", got)
			}
			fails(t, func(t testing.TB) { d.AssertTimer(t, pawltest.Key(key), pawltest.Due(due.Add(time.Second), 0)) }, "due time", fmt.Sprintf("expire %s key %q", id, key), "scheduled: 7", "(other due time)")
			fails(t, func(t testing.TB) { d.AssertNoTimer(t, pawltest.Key(key)) }, "1 timer scheduled with key", "want none")

			tx, look, end = begin()
			if gone, err := d.Timers.CancelKeyTx(t.Context(), tx, key); err != nil || !gone {
				t.Fatal(gone, err)
			}
			d.AssertNoTimer(t, pawltest.In(look), pawltest.Key(key))
			fails(t, func(t testing.TB) { d.AssertTimer(t, pawltest.In(look), pawltest.Key(key)) }, "in this transaction")
			check(t, end(false))
			d.AssertTimer(t, pawltest.Key(key))
		}
		d.AssertNotEnqueued(t)
	})
}

// Names may be prefixed, and the test's own tables do not meet pawl's.
func TestPrefixAndOwnTables(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(testing.TB, ...pawltest.Options) *pawltest.DB) {
		d, other := open(t, pawltest.Options{Prefix: "pw_"}), open(t)
		for _, db := range []*sql.DB{d.SQL(), other.SQL()} {
			if db == other.SQL() && other.Internal(access.Key{}).DB.Engine() != "postgres" {
				break // one namespace: that is what prefixes are for
			}
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE jobs (name TEXT); INSERT INTO jobs VALUES ('mine')"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = db.ExecContext(context.Background(), "DROP TABLE jobs") }) // other tests share a server's
			var name string
			check(t, db.QueryRowContext(t.Context(), "SELECT name FROM jobs").Scan(&name))
		}
		enqueue(t, d, "mail", "")
		_, err := d.Timers.Schedule(t.Context(), timer.Timer{Topic: "later", Due: d.Clock.Now().Add(time.Hour)})
		check(t, err)
		d.AssertEnqueued(t, pawltest.Topic("mail"))
		d.AssertTimer(t, pawltest.Topic("later"))
		other.AssertNotEnqueued(t)
	})
}
