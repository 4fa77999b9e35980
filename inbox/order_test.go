package inbox_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-211: messages of an inbox have ordering keys, too.
func TestOrderingKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for _, id := range []string{"1", "2"} {
			m := inbox.Message{Key: inbox.Key{Source: "s", MessageID: id}, Topic: "t", Payload: []byte(id), OrderingKey: "k"}
			if _, err := f.Enqueue(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		o := parts.NewOutbox(f.db, worker.Options{})
		for _, want := range []string{"1", "2"} {
			owner := outbox.NewOwnerToken()
			msgs, err := o.WorkQueue("inbox").Claim(t.Context(), owner, time.Minute, 10)
			if err != nil || len(msgs) != 1 || string(msgs[0].Payload) != want || msgs[0].OrderingKey != "k" {
				t.Fatalf("claimed %d, %v, want %s", len(msgs), err, want)
			}
			if _, err := o.WorkQueue("").Ack(t.Context(), owner, msgs[0].Position); err != nil {
				t.Fatal(err)
			}
		}
	})
}
