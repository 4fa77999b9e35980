package watermill_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"go.uber.org/goleak"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/watermill"
	"github.com/bravellian/pawl/sqlite"
)

// subscribed is a database with one message and a subscription to its topic.
type subscribed struct {
	*pawl.Pawl
	db       dbtest.Database
	id       outbox.MessageID
	sub      *watermill.Subscriber
	messages <-chan *message.Message
}

func withMessage(t *testing.T, e dbtest.Engine, opts pawl.Options) *subscribed {
	t.Helper()
	p, d := open(t, e, opts)
	id, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t", Queue: "t", Headers: map[string]string{"h": "v"}, CorrelationID: "c"})
	must(t, err)
	s := &subscribed{Pawl: p, db: d, id: id, sub: subscriber(t, p, watermill.SubscriberOptions{Worker: opts})}
	s.messages = subscribe(t, s.sub, "t")
	return s
}

// becomes waits until the message has a status.
func (s *subscribed) becomes(t testing.TB, status outbox.Status) {
	t.Helper()
	dbtest.Until(t, "the message is "+string(status), func() bool {
		info, err := s.Outbox.Get(t.Context(), s.id)
		must(t, err)
		return info.Status == status
	})
}

// D-233: an acked message is done; a nacked one comes again, as a failed attempt.
func TestAckAndNack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		s := withMessage(t, e, quick())
		for range 2 {
			m := next(t, s.messages)
			if m.UUID != s.id.String() || m.Metadata.Get("h") != "v" || m.Metadata.Get(watermill.CorrelationIDMetadata) != "c" {
				t.Errorf("%s with %v", m.UUID, m.Metadata)
			}
			m.Nack()
			closed(t, "the message's context", m.Context().Done())
		}
		m := next(t, s.messages)
		if err := m.Context().Err(); err != nil {
			t.Errorf("before Ack: %v", err)
		}
		m.Ack()
		s.becomes(t, outbox.Done)
		wantStatus(t, s.Pawl, s.id, outbox.Done, 2)
		closed(t, "the message's context", m.Context().Done())
	})
}

// D-233: Close waits for the acknowledgement of a message that was delivered.
func TestCloseWaitsForAck(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		opts := quick()
		opts.Grace = patience
		s := withMessage(t, e, opts)
		m := next(t, s.messages)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.sub.Close()
		}()
		dbtest.Until(t, "Close has begun", func() bool {
			_, err := s.sub.Subscribe(t.Context(), "t")
			return errors.Is(err, watermill.ErrClosed)
		})
		if err := m.Context().Err(); err != nil {
			t.Errorf("while Close waits: %v", err)
		}
		m.Ack()
		closed(t, "Close", ended)
		select {
		case <-s.messages:
		default:
			t.Error("Close returned before the subscription ended")
		}
		wantStatus(t, s.Pawl, s.id, outbox.Done, 0)
	})
}

// D-233: a message without an acknowledgement is delivered again after Close, and its attempt
// does not count; so is one that nobody received.
func TestCloseReleases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		for _, received := range []bool{true, false} {
			s := withMessage(t, e, quick())
			if received {
				m := next(t, s.messages)
				defer closed(t, "the message's context", m.Context().Done())
			} else {
				s.becomes(t, outbox.InProgress)
			}
			must(t, s.sub.Close())
			must(t, s.sub.Close())
			closed(t, "the subscription", s.messages)
			wantStatus(t, s.Pawl, s.id, outbox.Ready, 0)

			ctx, cancel := context.WithCancel(t.Context())
			messages, err := subscriber(t, s.Pawl, watermill.SubscriberOptions{Worker: quick()}).Subscribe(ctx, "t")
			must(t, err)
			next(t, messages).Ack()
			cancel()
			closed(t, "the subscription", messages)
			wantStatus(t, s.Pawl, s.id, outbox.Done, 0)
		}
	})
}

// D-233: a message whose process ended is delivered again once its lease has expired.
func TestLeaseExpires(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		p, d := open(t, e, quick())
		id, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t", Queue: "t"})
		must(t, err)
		claimed, err := p.Outbox.WorkQueue("t").Claim(t.Context(), outbox.NewOwnerToken(), time.Second, 1)
		if err != nil || len(claimed) != 1 {
			t.Fatal(claimed, err)
		}
		messages := subscribe(t, subscriber(t, p, watermill.SubscriberOptions{Worker: quick()}), "t")
		d.Pass(1100 * time.Millisecond)
		m := next(t, messages)
		if m.UUID != id.String() {
			t.Errorf("%s, want %s", m.UUID, id)
		}
		m.Ack()
	})
}

// D-233: one message waits for its acknowledgement at a time, or as many as Concurrency says.
func TestConcurrency(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		p, _ := open(t, e, quick())
		opts := quick()
		opts.Concurrency = 2
		pub := watermill.NewPublisher(p, watermill.PublisherOptions{Queue: watermill.InQueue("q")})
		sub := subscriber(t, p, watermill.SubscriberOptions{Worker: opts, Queue: watermill.InQueue("q")})
		must(t, pub.Publish("t", message.NewMessage("1", nil), message.NewMessage("2", nil), message.NewMessage("3", nil)))
		messages := subscribe(t, sub, "t")
		first, second := next(t, messages), next(t, messages)
		select {
		case m := <-messages:
			t.Errorf("%s before an acknowledgement", m.UUID)
		case <-time.After(50 * time.Millisecond):
		}
		first.Ack()
		closed(t, "the context of an acked message", first.Context().Done())
		if err := second.Context().Err(); err != nil {
			t.Errorf("the context of another: %v", err)
		}
		next(t, messages).Ack()
		second.Ack()
	})
}

// D-233: operators see a subscription among the workers.
func TestSubscriptionIsAWorker(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		s := withMessage(t, e, quick())
		next(t, s.messages).Ack()
		s.becomes(t, outbox.Done)
		var workers inspect.Workers
		dbtest.Until(t, "the subscription is in the list", func() (listed bool) {
			var err error
			workers, err = inspect.ListWorkers(t.Context(), s.Internal(access.Key{}).DB)
			must(t, err)
			return len(workers) > 0
		})
		if len(workers) != 1 || !slices.Equal(workers[0].Queues, []string{"t"}) || !slices.Contains(workers[0].Topics, "t") {
			t.Errorf("workers %+v", workers)
		}
		must(t, s.sub.Close())
		if workers, err := inspect.ListWorkers(t.Context(), s.Internal(access.Key{}).DB); err != nil || len(workers) != 0 {
			t.Errorf("after Close: %+v, %v", workers, err)
		}
	})
}

// D-233: what cannot work is an error of Subscribe, or of NewSubscriber.
func TestSubscribeRefuses(t *testing.T) {
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "empty.db"))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	p, err := pawl.New(db, pawl.Options{})
	must(t, err)
	sub := subscriber(t, p, watermill.SubscriberOptions{})
	if _, err := sub.Subscribe(t.Context(), "t"); !errors.Is(err, pawl.ErrSchemaMissing) {
		t.Errorf("without a schema: %v", err)
	}
	if _, err := sub.Subscribe(t.Context(), ""); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("without a topic: %v", err)
	}
	if _, err := watermill.NewSubscriber(p, watermill.SubscriberOptions{Worker: pawl.Options{Lease: time.Nanosecond}}); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("with a short lease: %v", err)
	}
	no := errors.New("no")
	sub = subscriber(t, p, watermill.SubscriberOptions{Instrument: func(*pawl.Pawl) error { return no }})
	if _, err := sub.Subscribe(t.Context(), "t"); !errors.Is(err, no) {
		t.Errorf("with an observer that fails: %v", err)
	}
}

// D-233: no goroutine is left after Close, whatever the consumers did.
func TestNothingLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "leak.db"))
	must(t, err)
	p, err := pawl.New(db, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	must(t, p.Migrate(t.Context()))
	pub, seen := watermill.NewPublisher(p, watermill.PublisherOptions{}), 0
	sub, err := watermill.NewSubscriber(p, watermill.SubscriberOptions{Worker: quick(), Instrument: func(p *pawl.Pawl) error {
		p.Observe(pawl.Observer{Claimed: func(string, int) { seen++ }})
		return nil
	}})
	must(t, err)
	must(t, pub.Publish("received", message.NewMessage("", nil), message.NewMessage("", nil)))
	must(t, pub.Publish("ignored", message.NewMessage("", nil)))
	next(t, subscribe(t, sub, "received")).Ack()
	messages := subscribe(t, sub, "ignored")
	must(t, sub.Close())
	closed(t, "the subscription", messages)
	if seen == 0 {
		t.Error("the observer of Instrument saw no claim")
	}
	must(t, p.Close())
	goleak.VerifyNone(t, before)
}
