package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/input"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// enqueueCmd is "pawl enqueue".
type enqueueCmd struct {
	File string `arg:"" optional:"" help:"File to read, - or none for standard input."`

	Data          *string      `short:"d" placeholder:"TEXT" help:"The one payload, in place of a file: the text as it is, or all of standard input for -."`
	Topic         *string      `short:"t" placeholder:"TOPIC" help:"Topic of the messages."`
	Format        input.Format `short:"f" enum:"auto,raw,envelope,whole" default:"auto" placeholder:"FORMAT" help:"raw: every line is a payload. envelope: every line is a message as JSON. whole: the input is one payload. auto (default): raw with --topic, else envelope."`
	Key           string       `placeholder:"KEY" help:"Key of the message, if there is only one: a second message with the key is not added."`
	Due           ahead        `placeholder:"WHEN" help:"Deliver not before a time (2030-01-31T12:00:00Z), or for a duration (10m)."`
	Expires       ahead        `placeholder:"WHEN" help:"Do not begin to deliver from a time on, or after a duration (1h)."`
	OrderingKey   string       `placeholder:"KEY" help:"Deliver one at a time and in order with other messages that have this key."`
	CorrelationID string       `placeholder:"TEXT" help:"Links messages for tracing."`
	messageFlags
	uniqueFlags
	Atomic     bool  `help:"All messages in one transaction, or none: all of the input is read and checked first, and held in memory."`
	MaxPayload int   `default:"1048576" placeholder:"BYTES" help:"Refuse larger payloads. Default: ${default}."`
	MaxInput   int64 `default:"268435456" placeholder:"BYTES" help:"Refuse more input with --atomic. Default: ${default}."`

	migrateFlag
}

// Help is printed by --help.
func (*enqueueCmd) Help() string {
	return `Messages are stored while the input is read, in transactions of at most 1000
messages, each checked before it is stored. If something is wrong half-way, what
was stored stays, and the error names the last line that was: correct the next, and
go on with it ("tail -n +LINE"). With --atomic all messages are stored in one
transaction, or none. Prints the ids of the messages that were stored; on a terminal
their number, unless --json is given.

With --topic, every line of the input is a payload, an empty line an empty one. With
--data too, its text is the only payload, an empty text an empty one, and no input is read.
Without --topic, every line is a message as a JSON object (an envelope), with
the fields topic, payload or payload_base64, key, due, expires, ordering_key,
correlation_id, headers, queue and priority. What a line leaves out comes from the options. A payload
that is a JSON string stands for its text, any other is stored as it is written.

A key that is a UUID becomes the id of the message; any other text is turned
into one together with the topic.

With --unique a message is not stored while an earlier one with that key waits or
runs: the id that is printed is that of the earlier one, and the number of these
duplicates goes to standard error; with --json each says so.

Examples:

    pawl enqueue --topic mail --data '{"to":"ann@example.com"}'
    printf '{"n":1}\n{"n":2}\n' | pawl enqueue --topic t
    pawl enqueue --topic report --format whole report.pdf
    pawl enqueue --topic reindex --unique reindex-7 --due 10s --debounce --data ''
    echo '{"topic":"mail","payload":{"to":"ann@example.com"},"key":"order-17","due":"1h"}' | pawl enqueue`
}

// enqueueTimeout bounds the one transaction, however large.
const enqueueTimeout = 10 * time.Minute

// Run enqueues what it reads.
func (c *enqueueCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := c.settle(); err != nil {
		return err
	}
	base, err := c.message()
	if err != nil {
		return err
	}
	if _, err := g.target(ctx); err != nil {
		return err // before anyone types the input
	}
	r, name, err := c.open(a)
	if err != nil {
		return err
	}
	defer r.Close()
	run := &enqueueRun{ctx: ctx, c: c, a: a, g: g, live: terminal.NewLive(a.stderr)}
	err = c.feed(r, base, run)
	run.live.Clear()
	if err != nil {
		err = c.hint(run.brokeOff(name, err))
	}
	if run.s != nil {
		if closing := run.s.close(nil); err == nil {
			err = closing
		}
	}
	if err != nil {
		return err
	}
	switch {
	case run.stored+run.duplicates == 0:
		fmt.Fprintf(a.stderr, "%s is empty: nothing was enqueued\n", name)
	case run.counts():
		_, err = fmt.Fprintf(a.stdout, "%s enqueued\n", engine.Several(run.stored, "message"))
	}
	if run.duplicates > 0 && !g.JSON {
		fmt.Fprintf(a.stderr, "%s not enqueued: an earlier one has the unique key\n", engine.Several(run.duplicates, "message"))
	}
	return err
}

// settle finds what contradicts --data, which is short for --format whole.
func (c *enqueueCmd) settle() error {
	switch {
	case c.Data == nil:
		return nil
	case c.Topic == nil:
		return usage("--data wants a --topic")
	case c.File != "":
		return usage("--data and a file: want one of them")
	case c.Format != input.Auto && c.Format != input.Whole:
		return usage("--data is one payload: leave --format=%s out", c.Format)
	}
	c.Format = input.Whole
	return nil
}

// open returns what is read, and its name.
func (c *enqueueCmd) open(a *app) (io.ReadCloser, string, error) {
	if c.Data != nil {
		return a.openData(*c.Data)
	}
	return a.openInput(c.File)
}

// feed reads the input and has it stored.
func (c *enqueueCmd) feed(r io.Reader, base outbox.Message, run *enqueueRun) error {
	o := input.Options{Format: c.Format, Message: base, Key: c.Key, MaxPayload: c.MaxPayload, MaxTotal: c.MaxInput, Now: time.Now()}
	if !c.Atomic && c.Key == "" && c.Format != input.Whole {
		return input.Batches(r, o, run.store)
	}
	msgs, err := input.Read(r, o)
	if err != nil || len(msgs) == 0 {
		return err
	}
	return run.store(msgs, 0)
}

// enqueueRun stores one batch after another. The database is opened with the first:
// bad input makes no file.
type enqueueRun struct {
	ctx    context.Context
	c      *enqueueCmd
	a      *app
	g      *options
	live   *terminal.Live
	s      *store
	box    *outbox.Outbox
	failed error // why a batch was not stored
	stored int   // messages
	line   int   // the last one that is stored

	duplicates int // messages that are not stored
}

// store stores a batch in one transaction and prints its ids.
func (r *enqueueRun) store(msgs []outbox.Message, line int) error {
	r.failed = r.storeBatch(msgs, line)
	return r.failed
}

func (r *enqueueRun) storeBatch(msgs []outbox.Message, line int) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.s == nil {
		s, err := r.g.open(r.ctx, opening{make: true, migrate: r.c.Migrate, Options: target.Options{Timeout: enqueueTimeout}})
		if err != nil {
			return err
		}
		p, err := pawl.New(s, pawl.Options{MaxPayload: r.c.MaxPayload, Logger: silent()})
		if err != nil {
			return s.close(err)
		}
		r.s, r.box = s, p.Outbox
	}
	duplicate := askDuplicates(msgs)
	ids, err := enqueueOnce(r.ctx, r.box, msgs)
	if err != nil {
		return r.s.failed(err)
	}
	n := countTrue(duplicate)
	r.stored, r.duplicates, r.line = r.stored+len(ids)-n, r.duplicates+n, line
	if r.counts() {
		r.live.Show(engine.Several(r.stored, "message") + " enqueued")
		return nil
	}
	return r.a.printEnqueued(msgs, ids, duplicate, r.g.JSON)
}

// counts reports whether a count is printed in place of the ids: they are for programs,
// and thousands of them of no use to a person.
func (r *enqueueRun) counts() bool { return terminal.Is(r.a.stdout) && !r.g.JSON }

// brokeOff says what is stored although something went wrong.
func (r *enqueueRun) brokeOff(name string, err error) error {
	done := "nothing was enqueued"
	if r.line > 0 {
		done = fmt.Sprintf("lines 1 to %d are enqueued (%s)", r.line, engine.Several(r.stored, "message"))
	}
	switch {
	case r.failed == nil: // it is the input
		return fmt.Errorf("%s: %w; %s", name, err, done)
	case r.line > 0:
		return &doneError{done, err}
	}
	return err
}

// message is what the options say about every message.
func (c *enqueueCmd) message() (outbox.Message, error) {
	m := c.messageFlags.message("", c.CorrelationID)
	m.Due, m.Expires, m.OrderingKey = c.Due.at, c.Expires.at, c.OrderingKey
	if err := c.apply(&m); err != nil {
		return m, err
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
func (a *app) printEnqueued(msgs []outbox.Message, ids []outbox.MessageID, duplicate []bool, asJSON bool) error {
	var out []byte
	for i, id := range ids {
		if !asJSON {
			out = append(out, id.String()+"\n"...)
			continue
		}
		line, err := encodeJSON(struct {
			MessageID outbox.MessageID `json:"message_id"`
			Topic     string           `json:"topic"`
			Duplicate bool             `json:"duplicate,omitempty"`
		}{id, msgs[i].Topic, duplicate[i]})
		if err != nil {
			return err
		}
		out = append(out, line...)
	}
	if _, err := a.stdout.Write(out); err != nil {
		return fmt.Errorf("enqueued %s, but: %w", engine.Several(len(ids), "message"), err)
	}
	return nil
}
