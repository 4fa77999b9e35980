package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// lsCmd is "pawl ls".
type lsCmd struct {
	Status    string `placeholder:"STATUS" xor:"status" help:"Only messages that are ready, scheduled, running, done, failed or discarded. Each has an option of its own, too."`
	Ready     bool   `xor:"status" help:"Due and waiting for a worker."`
	Scheduled bool   `xor:"status" help:"Due later, retries included."`
	Running   bool   `xor:"status" help:"Held by a worker."`
	Done      bool   `xor:"status" help:"Handled."`
	Failed    bool   `xor:"status" help:"Failed for good."`
	Discarded bool   `xor:"status" help:"Cancelled, or failed and given up; pending runs of a removed job."`

	Topic         string         `short:"t" placeholder:"TOPIC" help:"Only messages of a topic."`
	Queue         string         `short:"q" placeholder:"QUEUE" help:"Only messages of a queue."`
	CorrelationID string         `placeholder:"ID" help:"Only messages with this correlation id."`
	Error         string         `placeholder:"TEXT" help:"Only messages whose last error contains a text, upper and lower case as it is."`
	OlderThan     *time.Duration `placeholder:"DURATION" help:"Only messages enqueued longer ago than this (24h)."`
	NewerThan     *time.Duration `placeholder:"DURATION" help:"Only messages enqueued no longer ago than this (10m)."`
	Header        headers        `placeholder:"NAME=VALUE" help:"Only messages with a header of exactly this value; may be repeated, then with all of them."`

	Limit  int   `short:"n" default:"50" placeholder:"N" help:"How many, at most 10000. Default: ${default}."`
	Before int64 `placeholder:"ID" help:"Only messages below an id, to page on."`
	Counts bool  `help:"How many messages are in which state, of all topics, instead of the messages."`
}

// Help is printed by --help.
func (*lsCmd) Help() string {
	return `Messages are listed from the newest position down. --json prints all fields but
the payload; see "pawl show". All that is asked for must hold. One call looks at
about a million messages, and then says where to go on.

Examples:

    pawl ls --failed
    pawl ls --failed --error 'connection refused' --newer-than 1h
    pawl ls --queue mail --header tenant=a --older-than 24h
    pawl ls --topic mail --limit 1000 --json
    pawl ls --counts`
}

// Run lists messages or counts them.
func (c *lsCmd) Run(ctx context.Context, a *app, g *options) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	if c.Counts && (f.Status != nil || f.Before != 0 || c.chooses()) {
		return usage("--counts counts all messages: it goes with no other choice of them")
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	o := outbox.New(s, outbox.Options{})
	if c.Counts {
		counts, err := o.Count(ctx)
		if err := s.close(err); err != nil {
			return err
		}
		return a.printCounts(counts, g.JSON)
	}
	page, err := o.ListPage(ctx, f)
	if err := s.close(err); errors.Is(err, outbox.ErrInvalid) {
		return usage("%w", err)
	} else if err != nil {
		return err
	}
	return c.print(a, page, g.JSON)
}

// chooses says whether any messages are left out by what they are.
func (c *lsCmd) chooses() bool {
	return c.Topic != "" || c.Queue != "" || c.CorrelationID != "" || c.Error != "" || c.OlderThan != nil || c.NewerThan != nil || len(c.Header) > 0
}

func (c *lsCmd) filter() (outbox.ListFilter, error) {
	f := outbox.ListFilter{
		Topic: c.Topic, Before: outbox.WorkItemID(c.Before), Limit: c.Limit, Queue: c.Queue, CorrelationID: c.CorrelationID, Error: c.Error,
		OlderThan: worker.Value(c.OlderThan), NewerThan: worker.Value(c.NewerThan), Headers: c.Header,
	}
	if err := checkLimit(c.Limit); err != nil {
		return f, err
	}
	for option, age := range map[string]*time.Duration{"--older-than": c.OlderThan, "--newer-than": c.NewerThan} {
		if age != nil && *age <= 0 {
			return f, usage("%s: not above 0", option)
		}
	}
	known := c.Status == ""
	for _, s := range []struct {
		word   string
		status outbox.Status
		wanted bool
	}{
		{"ready", outbox.Ready, c.Ready}, {"scheduled", outbox.Scheduled, c.Scheduled}, {"running", outbox.InProgress, c.Running},
		{"done", outbox.Done, c.Done}, {"failed", outbox.Failed, c.Failed}, {"discarded", outbox.Discarded, c.Discarded},
	} {
		if s.wanted || c.Status == s.word {
			known, f.Status = true, &s.status
		}
	}
	if !known {
		return f, usage("--status: want ready, scheduled, running, done, failed or discarded")
	}
	return f, nil
}

// print lists the messages, and says where to go on if the list stops before the last
// message: in JSON only where it is not full, which its reader could not know.
func (c *lsCmd) print(a *app, page outbox.Page, asJSON bool) error {
	full := len(page.Messages) == c.Limit
	if err := c.printMessages(a, page, asJSON); err != nil {
		return err
	}
	switch {
	case page.Next != 0 && !full:
		fmt.Fprintf(a.stderr, "stopped after looking at many messages: go on with --before %d\n", page.Next)
	case page.Next != 0 && !asJSON:
		fmt.Fprintf(a.stderr, "there may be more: --before %d\n", page.Next)
	}
	return nil
}

func (c *lsCmd) printMessages(a *app, page outbox.Page, asJSON bool) error {
	if asJSON {
		return printAll(a, page.Messages, func(i *outbox.Info) messageView { return view(i, false) })
	}
	if len(page.Messages) == 0 {
		fmt.Fprintln(a.stderr, "no messages")
		return nil
	}
	var t terminal.Table
	t.Row("ID", "MESSAGE", "TOPIC", "STATUS", "RETRIES", "CREATED", "NOTE")
	for _, i := range page.Messages {
		t.Row(strconv.FormatInt(int64(i.WorkItemID), 10), i.ID.String(), i.Topic, statusWord(i),
			strconv.Itoa(i.RetryCount), stamp(i.CreatedAt), note(i))
	}
	return t.Write(a.stdout, terminal.Width(a.stdout))
}

// note is what matters about a message in its state.
func note(i *outbox.Info) string {
	switch status := statusWord(i); {
	case status == "running" && i.LockedUntil != nil:
		return "lease until " + stamp(*i.LockedUntil)
	case status == "done" && i.ProcessedAt != nil:
		return "at " + stamp(*i.ProcessedAt) + " by " + i.ProcessedBy
	case status == "scheduled" && i.LastError != "":
		return "again at " + stamp(i.NextAttemptAt) + ": " + i.LastError
	case status == "scheduled":
		return "due " + stamp(i.NextAttemptAt)
	}
	return i.LastError
}

func (a *app) printCounts(n outbox.Counts, asJSON bool) error {
	if asJSON {
		return a.printJSON(struct {
			Ready     int64 `json:"ready"`
			Scheduled int64 `json:"scheduled"`
			Running   int64 `json:"running"`
			Done      int64 `json:"done"`
			Failed    int64 `json:"failed"`
			Discarded int64 `json:"discarded"`
		}{n.Ready, n.Scheduled, n.InProgress, n.Done, n.Failed, n.Discarded})
	}
	var t terminal.Table
	for _, row := range []struct {
		word  string
		count int64
	}{{"ready", n.Ready}, {"scheduled", n.Scheduled}, {"running", n.InProgress}, {"done", n.Done}, {"failed", n.Failed}, {"discarded", n.Discarded}} {
		t.Row(row.word, fmt.Sprintf("%10d", row.count))
	}
	return t.Write(a.stdout, 0)
}
