package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sink/webhook"
)

// served is a topic or a pattern, and what handles its messages; with a webhook no command.
type served struct {
	topic, command string
	handler        outbox.Handler
}

// served returns what the options serve: --topic and --exec are a short form of --on.
func (c *workCmd) served() (all []served, err error) {
	if len(c.On) == 0 && (len(c.Topic) == 0 || c.Exec == "" && c.Webhook == "") {
		return nil, usage("want --on TOPIC=COMMAND, or --topic TOPIC with --exec COMMAND or --webhook URL")
	}
	for i, text := range c.On {
		topic, command, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usage("--on: number %d has no =: want TOPIC=COMMAND", i+1)
		}
		all = append(all, served{topic: topic, command: command})
	}
	for _, topic := range c.Topic {
		all = append(all, served{topic: topic, command: c.Exec})
	}
	return all, c.checkServed(all)
}

func (c *workCmd) checkServed(all []served) error {
	flag := "--topic"
	if len(c.On) > 0 {
		flag = "--on"
	}
	for i, s := range all {
		m := outbox.Message{Topic: s.topic}
		if err := m.Validate(); err != nil {
			return usage("%w", err)
		}
		switch {
		case s.topic == join.DefaultTopic:
			return usage("%s: %q is pawl's own, without a command", flag, s.topic)
		case slices.ContainsFunc(all[:i], func(other served) bool { return other.topic == s.topic }):
			return usage("%s: %q twice", flag, s.topic)
		case c.Webhook == "" && strings.TrimSpace(s.command) == "":
			return usage("%s: %q has no command", flag, s.topic)
		}
	}
	return nil
}

// serving registers what handles the messages of the topics: the commands, or a sink that is made
// for the options.
func (c *workCmd) serving(on pawl.Handlers, all []served, sink func(webhook.Options) (*webhook.Sink, error), log *slog.Logger) error {
	if c.Webhook == "" {
		policy := worker.DefaultRetryPolicy()
		policy.MaxAttempts = c.MaxAttempts
		for _, s := range all {
			on.Handle(s.topic, s.handler, outbox.HandlerOptions{Retry: (*outbox.RetryPolicy)(&policy)})
		}
		return nil
	}
	e, err := c.endpoint()
	if err != nil {
		return err
	}
	hook, err := sink(webhook.Options{Endpoint: e, AllowPrivate: c.AllowPrivate, Timeout: c.Timeout, Logger: log})
	if err != nil {
		return err
	}
	policy := webhook.Retry()
	policy.MaxAttempts = c.MaxAttempts
	for _, s := range all {
		hook.Handle(s.topic, outbox.HandlerOptions{Retry: policy})
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
