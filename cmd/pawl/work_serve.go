package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/webhook"
)

// serving registers what handles the messages of the topics: the command, or a sink that is made
// for the options.
func (c *workCmd) serving(on pawl.Handlers, command outbox.Handler, sink func(webhook.Options) (*webhook.Sink, error), log *slog.Logger) error {
	if c.Webhook == "" {
		policy := worker.DefaultRetryPolicy()
		policy.MaxAttempts = c.MaxAttempts
		for _, topic := range c.Topic {
			on.Handle(topic, command, outbox.HandlerOptions{Retry: (*outbox.RetryPolicy)(&policy)})
		}
		return nil
	}
	e, err := c.endpoint()
	if err != nil {
		return err
	}
	s, err := sink(webhook.Options{Endpoint: e, AllowPrivate: c.AllowPrivate, Timeout: c.Timeout, Logger: log})
	if err != nil {
		return err
	}
	policy := webhook.Retry()
	policy.MaxAttempts = c.MaxAttempts
	for _, topic := range c.Topic {
		s.Handle(topic, outbox.HandlerOptions{Retry: (*outbox.RetryPolicy)(&policy)})
	}
	return nil
}

// limited is a handler whose time begins with its command. The outbox's begins when
// a message comes, which then may have to wait for the commands of other stores of a fleet.
func limited(h outbox.Handler, limit time.Duration) outbox.Handler {
	if limit <= 0 {
		return h
	}
	return func(ctx context.Context, m *outbox.Message) error {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return h(ctx, m)
	}
}
