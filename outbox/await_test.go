package outbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-774: Await returns what a handler set, or how the message ended; a worker of the same process notifies
// it, without another poll.
func TestAwait(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{})
		f.AwaitEvery(time.Hour)
		release := make(chan struct{})
		f.Handle("t", func(_ context.Context, m *outbox.Message) error {
			<-release
			switch string(m.Payload) {
			case "bad":
				return outbox.Permanent(errors.New("no"))
			case "silent":
				return nil
			}
			return m.SetResult([]byte("done"))
		})
		ctx, stop := context.WithCancel(f.ctx())
		worked := make(chan error, 1)
		go func() { worked <- f.Run(ctx) }()
		type outcome struct {
			data string
			err  error
		}
		awaited := map[string]chan outcome{}
		ids := map[string]outbox.MessageID{}
		for _, body := range []string{"good", "bad", "silent"} {
			id, err := f.Enqueue(f.ctx(), outbox.Message{Topic: "t", Payload: []byte(body)})
			if err != nil {
				t.Fatal(err)
			}
			c := make(chan outcome, 1)
			awaited[body], ids[body] = c, id
			go func() {
				ctx, cancel := context.WithTimeout(f.ctx(), 3*time.Minute) // far below the hour
				defer cancel()
				data, err := f.Await(ctx, id)
				c <- outcome{string(data), err}
			}()
		}
		dbtest.Until(t, "all wait", func() bool { return f.Awaiting() == 3 })
		close(release)
		for body, want := range map[string]string{"good": "done", "silent": ""} {
			if got := <-awaited[body]; got.data != want || got.err != nil {
				t.Errorf("%s: %q, %v", body, got.data, got.err)
			}
		}
		var end *outbox.EndError
		if got := <-awaited["bad"]; !errors.As(got.err, &end) || end.Status != outbox.Failed || end.Reason != "no" || end.ID != ids["bad"] {
			t.Errorf("bad: %v", got.err)
		}
		if _, err := f.Await(f.ctx(), outbox.MessageID{1}); !errors.Is(err, outbox.ErrNotFound) {
			t.Errorf("nobody: %v", err)
		}
		stop()
		if err := <-worked; err != nil {
			t.Error(err)
		}
	})
}
