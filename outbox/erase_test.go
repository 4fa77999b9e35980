package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-798: no table has what an erased message said, whatever state it was in; what was erased does not run, what
// runs is left alone, and the audit trail says so.
func TestErase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, quick(worker.Options{}))
		const secret = "ann@example.com"
		begun, release := make(chan struct{}), make(chan struct{})
		f.Handle("done", func(_ context.Context, m *outbox.Message) error {
			if m.RetryCount == 0 {
				return errors.New("once: " + secret)
			}
			return m.SetResult([]byte(secret))
		})
		f.Handle("fails", func(context.Context, *outbox.Message) error { return outbox.Permanent(errors.New("no " + secret)) })
		f.Handle("runs", func(context.Context, *outbox.Message) error { close(begun); <-release; return nil })
		message := func(topic string) outbox.Message {
			return outbox.Message{Topic: topic, Payload: []byte(secret), CorrelationID: secret, Headers: map[string]string{"mail": secret}}
		}
		at := map[string]outbox.Position{}
		for _, topic := range []string{"done", "fails", "runs"} {
			at[topic] = f.enqueue(message(topic))
		}
		at["given up"] = f.enqueue(message("fails"))
		f.start()
		<-begun
		f.untilStatus(at["done"], outbox.Done)
		f.untilStatus(at["fails"], outbox.Failed)
		f.untilStatus(at["given up"], outbox.Failed)
		f.touched(1)(f.Discard(f.ctx(), outbox.FailedFilter{IDs: []outbox.Position{at["given up"]}}))
		waits := message("waits")
		waits.Due, waits.UniqueKey = time.Now().Add(time.Hour), secret
		at["waits"] = f.enqueue(waits)
		other := f.enqueue(outbox.Message{Topic: "waits", Payload: []byte("other"), CorrelationID: "other", Due: time.Now().Add(time.Hour)})

		erased, left, err := f.EraseCorrelated(t.Context(), "asked for", secret)
		if err != nil || erased != 4 || left != 1 {
			t.Fatalf("%d erased, %d left, %v", erased, left, err)
		}
		for topic, status := range map[string]outbox.Status{"done": outbox.Done, "fails": outbox.Discarded, "given up": outbox.Discarded, "waits": outbox.Discarded} {
			if m := f.get(at[topic]); m.Status != status || len(m.Payload) > 0 || m.CorrelationID != "" || len(m.Headers) > 0 || strings.Contains(m.LastError, secret) || m.UniqueKey != "" {
				t.Errorf("%s: %+v", topic, m)
			}
		}
		if n, err := f.Undiscard(t.Context(), outbox.FailedFilter{IDs: []outbox.Position{at["fails"], at["given up"]}}, uuid.Nil); err != nil || n.Changed != 0 {
			t.Errorf("%d are failed again, %v", n.Changed, err)
		}
		if m := f.get(other); m.Status != outbox.Ready || string(m.Payload) != "other" {
			t.Errorf("another message: %+v", m)
		}
		close(release)
		f.untilStatus(at["runs"], outbox.Done)
		if n, err := f.Erase(t.Context(), "", at["runs"], at["runs"], 12345); err != nil || n != 1 {
			t.Errorf("%d erased, %v", n, err)
		}
		for _, table := range []string{"outbox_attempt", "outbox_result", "outbox_unique", "outbox_exception WHERE last_error LIKE '%ann@%'"} {
			if n := f.db.Count(t, "SELECT count(*) FROM "+f.db.Table(table)); n > 0 {
				t.Errorf("%s: %d rows", table, n)
			}
		}
		var trail []string
		for one, err := range audit.List(t.Context(), f.db, audit.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			trail = append(trail, fmt.Sprintf("%s %d %s", one.Action, one.Count, one.Reason))
		}
		if want := []string{"erase 1 ", "erase 4 asked for", "discard 1 "}; !slices.Equal(trail, want) {
			t.Errorf("the trail: %q, want %q", trail, want)
		}
	})
}
