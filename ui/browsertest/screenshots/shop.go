package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/timer"
)

// shop is a database at which workers run.
type shop struct {
	*pawl.Pawl
	failed outbox.MessageID
	end    func() // ends the workers and closes the database
}

// orders is how many orders the shop gets in the end, of which some fail.
const orders = 120

// play lets a shop work for so long, and until there is something to see on every page. It works on.
func play(ctx context.Context, file string, busy time.Duration) (*shop, error) {
	db, err := sqlite.Open(file)
	if err != nil {
		return nil, err
	}
	p, err := pawl.New(db, pawl.Options{Logger: slog.New(slog.DiscardHandler), Worker: "shop-1", EnableSchemaDeployment: true})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	handle(p)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 2)
	s := &shop{Pawl: p, end: func() {
		stop()
		if err := errors.Join(<-ended, <-ended); err != nil {
			fmt.Fprintln(os.Stderr, "screenshots: the shop:", err)
		}
		_ = p.Close()
	}}
	if err := p.Migrate(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	go func() { ended <- p.Run(running) }()
	go func() { ended <- s.trade(running) }()
	select {
	case <-time.After(busy):
	case <-ctx.Done():
	}
	for _, step := range []func(context.Context) error{s.operate, s.sell, s.schedule, s.settle} {
		if err := step(ctx); err != nil {
			s.end()
			return nil, err
		}
	}
	return s, nil
}

// handle registers the shop's handlers.
func handle(p *pawl.Pawl) {
	works := func(ctx context.Context, _ *outbox.Message) error {
		select {
		case <-time.After(rand.N(300 * time.Millisecond)):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, topic := range []string{"order.created", "stock.reserve", "parcel.pack", "order.shipped", "report.daily", "cart.remind", "newsletter.send"} {
		p.Handle(topic, works)
	}
	p.Handle("invoice.made", func(_ context.Context, m *outbox.Message) error {
		switch m.Headers["country"] {
		case "PL":
			return outbox.Permanent(errors.New("the customer has no tax number"))
		case "FI":
			return outbox.Permanent(errors.New("no rate of tax is known for FI since the 1st"))
		}
		return nil
	})
	p.Handle("mail.send", func(_ context.Context, m *outbox.Message) error {
		if m.Headers["country"] == "NZ" {
			return outbox.Permanent(errors.New("550 5.1.1 mailbox unavailable: the recipient does not exist"))
		}
		return nil
	})
	p.Handle("card.charge", func(_ context.Context, m *outbox.Message) error {
		if m.Headers["country"] == "IS" {
			return outbox.RetryAfter(time.Hour, errors.New("gateway: 503 service unavailable, maintenance until 18:00"))
		}
		return nil
	}, outbox.HandlerOptions{Retry: &outbox.RetryPolicy{MaxAttempts: 5}})
}

// operate does what an operator has done before.
func (s *shop) operate(ctx context.Context) error {
	ctx = admin.WithActor(ctx, "ann")
	if _, err := s.Admin.Pause(ctx, admin.Topic, "newsletter.send", "the provider is being changed"); err != nil {
		return err
	}
	_, err := s.Admin.SetLimit(ctx, admin.Topic, "mail.send", outbox.Limit{Concurrency: 5, Rate: 600, Period: time.Minute}, "as agreed with the provider")
	return err
}

// trade sells what goes well until ctx ends, more and less in turns.
func (s *shop) trade(ctx context.Context) error {
	for i := 0; ; i++ {
		var all []outbox.Message
		for _, topic := range []string{"order.created", "card.charge", "invoice.made", "mail.send", "stock.reserve", "parcel.pack"} {
			all = append(all, outbox.Message{Topic: topic, CorrelationID: fmt.Sprintf("order-%d", i), Headers: map[string]string{"country": "DE"}, Payload: fmt.Appendf(nil, `{"order": "order-%d"}`, i)})
		}
		if _, err := s.Outbox.EnqueueBatch(ctx, all); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-time.After(time.Duration((600 + 400*math.Sin(float64(i)/200)) * float64(time.Millisecond))):
		case <-ctx.Done():
			return nil
		}
	}
}

// sell lets customers order.
func (s *shop) sell(ctx context.Context) error {
	countries := []string{"DE", "FR", "SE", "PT", "NZ", "IT", "PL", "IS", "ES", "NL", "AT", "DK", "FI"}
	for i := range orders {
		order := fmt.Sprintf("order-%d", 4200+i)
		country := countries[i%len(countries)]
		for _, topic := range []string{"order.created", "card.charge", "invoice.made", "mail.send"} {
			id, err := s.Outbox.Enqueue(ctx, outbox.Message{
				Topic: topic, CorrelationID: order, Headers: map[string]string{"country": country}, Payload: fmt.Appendf(nil, `{"order": %q, "country": %q, "items": %d}`, order, country, 1+i%4),
			})
			if err != nil {
				return err
			}
			if topic == "mail.send" && country == "NZ" {
				s.failed = id
			}
		}
	}
	for range 40 {
		if _, err := s.Outbox.Enqueue(ctx, outbox.Message{Topic: "newsletter.send"}); err != nil {
			return err
		}
	}
	_, err := s.Joins.FanOut(ctx, join.Spec{GroupingKey: "order-4200"}, []outbox.Message{{Topic: "stock.reserve"}, {Topic: "parcel.pack"}}, join.Wait{OnComplete: outbox.Message{Topic: "order.shipped"}})
	return err
}

// schedule sets up timers and jobs.
func (s *shop) schedule(ctx context.Context) error {
	for hours := range 12 {
		t := timer.Timer{Topic: "cart.remind", Key: fmt.Sprintf("cart-%d", 900+hours), Due: time.Now().Add(time.Duration(1+hours*hours%20) * time.Hour)}
		if _, err := s.Timers.Schedule(ctx, t); err != nil {
			return err
		}
	}
	for _, j := range []job.Job{
		{Name: "daily-report", Topic: "report.daily", Schedule: "0 6 * * 1-5", Zone: "Europe/Berlin"},
		{Name: "close-carts", Topic: "cart.remind", Schedule: "*/15 * * * *"},
		{Name: "stock-taking", Topic: "stock.reserve", Schedule: "30 2 1 * *", Zone: "Europe/Lisbon"},
		{Name: "newsletter", Topic: "newsletter.send", Schedule: "0 9 * * 2", Zone: "Europe/Paris"},
	} {
		if err := s.Jobs.Put(ctx, j); err != nil {
			return err
		}
	}
	_, err := s.Jobs.Trigger(ctx, "daily-report")
	return err
}

// settle waits until little is left but what waits, failed or is paused.
func (s *shop) settle(ctx context.Context) error {
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		b, err := inspect.ReadBacklog(ctx, s.Internal(access.Key{}).DB)
		if err != nil {
			return err
		}
		open := int64(0)
		for i := range b.Messages {
			if state := b.Messages[i].State; state == "ready" || state == "in_flight" {
				open += b.Messages[i].Count
			}
		}
		if open < 10 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%d messages are left: %w", open, ctx.Err())
		}
	}
}
