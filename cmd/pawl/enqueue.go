package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/input"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/engine"
	"github.com/bravellian/pawl/outbox"
)

// enqueueCmd is "pawl enqueue".
type enqueueCmd struct {
	File string `arg:"" optional:"" help:"File to read, - or none for standard input."`

	Topic         *string      `short:"t" placeholder:"TOPIC" help:"Topic of the messages."`
	Format        input.Format `short:"f" enum:"auto,raw,envelope,whole" default:"auto" placeholder:"FORMAT" help:"raw: every line is a payload. envelope: every line is a message as JSON. whole: the input is one payload. auto (default): raw with --topic, else envelope."`
	Key           string       `placeholder:"KEY" help:"Key of the message, if there is only one: a second message with the key is not added."`
	Due           string       `placeholder:"WHEN" help:"Deliver not before a time (RFC 3339) or for a duration (10m)."`
	CorrelationID string       `placeholder:"TEXT" help:"Links messages for tracing."`
	messageFlags
	MaxPayload int   `default:"1048576" placeholder:"BYTES" help:"Refuse larger payloads. Default: ${default}."`
	MaxInput   int64 `default:"268435456" placeholder:"BYTES" help:"Refuse more input at once: it becomes one transaction. Default: ${default}."`

	migrateFlag
}

// Help is printed by --help.
func (*enqueueCmd) Help() string {
	return `All messages are stored in one transaction, or none: every line is checked
before the first is stored. Prints the ids of the messages.

With --topic, every line of the input is a payload, an empty line an empty one.
Without it, every line is a message as a JSON object (an envelope), with
the fields topic, payload or payload_base64, key, due, correlation_id, headers,
queue and priority. What a line leaves out comes from the options. A payload
that is a JSON string stands for its text, any other is stored as it is written.

A key that is a UUID becomes the id of the message; any other text is turned
into one together with the topic.

Examples:

    printf '{"n":1}\n{"n":2}\n' | pawl enqueue --topic t
    pawl enqueue --topic report --format whole report.pdf
    echo '{"topic":"mail","payload":{"to":"ann@example.com"},"key":"order-17","due":"1h"}' | pawl enqueue`
}

// enqueueTimeout bounds the one transaction, however large.
const enqueueTimeout = 10 * time.Minute

// Run enqueues what it reads.
func (c *enqueueCmd) Run(ctx context.Context, a *app, g *options) error {
	base, err := c.message(time.Now())
	if err != nil {
		return err
	}
	if _, err := g.target(ctx); err != nil {
		return err // before anyone types the input
	}
	msgs, err := c.read(a, base)
	if err != nil {
		return err
	}
	s, err := g.open(ctx, opening{make: true, migrate: c.Migrate, Options: target.Options{Timeout: enqueueTimeout}})
	if err != nil {
		return err
	}
	o := outbox.New(s, outbox.Options{MaxPayload: c.MaxPayload, Logger: slog.New(slog.DiscardHandler)})
	ids, err := enqueueOnce(ctx, o, msgs)
	if err := s.close(err); err != nil {
		return err
	}
	return a.printEnqueued(msgs, ids, g.JSON)
}

// message is what the options say about every message.
func (c *enqueueCmd) message(now time.Time) (outbox.Message, error) {
	m := c.messageFlags.message("", c.CorrelationID)
	if c.Due != "" {
		due, err := input.ParseDue(c.Due, now)
		if err != nil {
			return m, usage("--%w", err)
		}
		m.Due = due
	}
	check := m
	if check.Topic = "any"; c.Topic != nil {
		m.Topic, check.Topic = *c.Topic, *c.Topic
	} else if c.Format == input.Raw || c.Format == input.Whole {
		return m, usage("--format=%s wants a --topic", c.Format)
	}
	if err := check.Validate(); err != nil {
		return m, usage("%w", err)
	}
	return m, nil
}

func (c *enqueueCmd) read(a *app, base outbox.Message) ([]outbox.Message, error) {
	r, name := a.stdin, "standard input"
	if c.File != "" && c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r, name = f, c.File
	} else {
		a.sayIfTyped()
	}
	msgs, err := input.Read(r, input.Options{
		Format: c.Format, Message: base, Key: c.Key, MaxPayload: c.MaxPayload, MaxTotal: c.MaxInput, Now: time.Now(),
	})
	if err != nil {
		return nil, c.hint(fmt.Errorf("%s: %w; nothing was enqueued", name, err))
	}
	return msgs, nil
}

// hint helps who forgot that plain lines need a topic.
func (c *enqueueCmd) hint(err error) error {
	var line *input.LineError
	if errors.As(err, &line) && c.Topic == nil && c.Format == input.Auto {
		return fmt.Errorf("%w (without --topic every line is a message as JSON)", err)
	}
	return err
}

// enqueueOnce tries again where the outcome of a commit is unknown, with the
// ids of the first attempt: no message is stored twice (D-4).
func enqueueOnce(ctx context.Context, o *outbox.Outbox, msgs []outbox.Message) ([]outbox.MessageID, error) {
	if len(msgs) == 0 {
		return nil, nil
	}
	for attempt := 1; ; attempt++ {
		ids, err := o.EnqueueBatch(ctx, msgs)
		if !errors.Is(err, engine.ErrCommitUnknown) || attempt == 3 || ctx.Err() != nil {
			return ids, err
		}
		for i, id := range ids {
			msgs[i].ID = id
		}
	}
}

// printEnqueued prints the ids. That happens after the commit, so a failure to
// print does not mean that nothing was stored.
func (a *app) printEnqueued(msgs []outbox.Message, ids []outbox.MessageID, asJSON bool) error {
	var out []byte
	for i, id := range ids {
		if !asJSON {
			out = append(out, id.String()+"\n"...)
			continue
		}
		line, err := encodeJSON(struct {
			MessageID outbox.MessageID `json:"message_id"`
			Topic     string           `json:"topic"`
		}{id, msgs[i].Topic})
		if err != nil {
			return err
		}
		out = append(out, line...)
	}
	if _, err := a.stdout.Write(out); err != nil {
		return fmt.Errorf("%d messages were enqueued, but: %w", len(ids), err)
	}
	return nil
}
