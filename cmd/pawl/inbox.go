package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/view"
)

// inboxCmd is "pawl inbox".
type inboxCmd struct {
	Ls     inboxLsCmd     `cmd:"" aliases:"list" help:"List messages by source and id."`
	Show   inboxShowCmd   `cmd:"" help:"Show what is known of a message."`
	Revive inboxReviveCmd `cmd:"" help:"Make dead messages ready again, with all their attempts."`
}

// Help is printed by --help.
func (*inboxCmd) Help() string {
	return `The inbox remembers which messages from outside were dealt with, by their source
and the id they have there. Programs fill it; these commands show it and revive
dead messages.`
}

// checkKey says what is wrong with a source and an id.
func checkKey(k inbox.Key) error {
	if err := engine.CheckText("source", k.Source, limits.Source, true); err != nil {
		return usage("%w", err)
	}
	if err := engine.CheckText("message id", k.MessageID, limits.MessageID, true); err != nil {
		return usage("%w", err)
	}
	return nil
}

// inboxLsCmd is "pawl inbox ls".
type inboxLsCmd struct {
	Source string `short:"s" placeholder:"SOURCE" help:"Only messages of a source."`
	Status string `placeholder:"STATUS" xor:"status" values:"Seen,Processing,Done,Dead" help:"Only messages that are Seen, Processing, Done or Dead."`
	Stuck  bool   `xor:"status" help:"Only messages that are processing, and not seen for an hour."`

	pageFlags `set:"cursor=SOURCE/ID"`
}

// Help is printed by --help.
func (*inboxLsCmd) Help() string {
	return `DELIVERIES is how often a message arrived, ATTEMPTS how often it was processed.
In --after SOURCE/ID, a / in the source is written as %2F and a % anywhere as %25.

Examples:

    pawl inbox ls --status Dead
    pawl inbox ls --source stripe --json`
}

// Run lists messages.
func (c *inboxLsCmd) Run(ctx context.Context, a *app, g *options) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	return inboxListing().list(ctx, a, g, c.listFlags, func(s *store) iter.Seq2[inbox.Info, error] { return s.pawl().Inbox.List(ctx, f) })
}

func (c *inboxLsCmd) filter() (inbox.ListOptions, error) {
	f := inbox.ListOptions{Source: c.Source}
	if err := c.checkLimit(); err != nil {
		return f, err
	}
	var err error
	f.Status, err = oneOf(c.Status, inbox.Seen, inbox.Processing, inbox.Done, inbox.Dead)
	switch {
	case err != nil:
		return f, err
	case c.Stuck:
		f.Status, f.Idle = inbox.Processing, limits.InboxStuck
	}
	if c.After == "" {
		return f, nil
	}
	after, err := parsePlace(c.After)
	f.After = &inbox.Info{Key: after}
	return f, err
}

// place is a source and an id in one word, which a shell leaves as it is and
// parsePlace takes apart again, whatever is in them.
func place(m *inbox.Info) string {
	escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	return escape(m.Source) + "/" + escape(m.MessageID)
}

func parsePlace(s string) (k inbox.Key, err error) {
	source, id, ok := strings.Cut(s, "/")
	if !ok {
		return k, usage("--after: want SOURCE/ID")
	}
	if k.Source, err = url.PathUnescape(source); err == nil {
		k.MessageID, err = url.PathUnescape(id)
	}
	if err != nil {
		return k, usage("--after: %w", err)
	}
	if err := checkKey(k); err != nil {
		return k, usage("--after: %w", err)
	}
	return k, nil
}

func inboxListing() *listing[inbox.Info] {
	return &listing[inbox.Info]{
		none: "no messages",
		columns: []column[inbox.Info]{
			{head: "SOURCE", cell: func(m *inbox.Info) string { return m.Source }},
			{head: "MESSAGE", cell: func(m *inbox.Info) string { return m.MessageID }},
			{head: "STATUS", cell: func(m *inbox.Info) string { return string(m.Status) }},
			{head: "DELIVERIES", cell: func(m *inbox.Info) string { return number(m.Deliveries) }},
			{head: "ATTEMPTS", cell: func(m *inbox.Info) string { return strconv.Itoa(m.Attempts) }},
			{head: "LAST SEEN", cell: func(m *inbox.Info) string { return stamp(m.LastSeenAt) }},
			{head: "ERROR", cell: func(m *inbox.Info) string { return m.LastError }},
		},
		id:    place,
		pages: true,
		view:  func(m *inbox.Info) any { return view.OfInbox(m) },
	}
}

// inboxShowCmd is "pawl inbox show".
type inboxShowCmd struct {
	Source string `arg:"" help:"Who sent the message."`
	ID     string `arg:"" help:"The sender's id of the message."`
}

// Run shows a message.
func (c *inboxShowCmd) Run(ctx context.Context, a *app, g *options) error {
	if err := checkKey(inbox.Key{Source: c.Source, MessageID: c.ID}); err != nil {
		return err
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	m, err := s.pawl().Inbox.Get(ctx, inbox.Key{Source: c.Source, MessageID: c.ID})
	if err := s.close(forgotten(err)); err != nil {
		return err
	}
	if g.JSON {
		return a.printJSON(view.OfInbox(m))
	}
	return a.printInbox(m)
}

func (a *app) printInbox(m *inbox.Info) error {
	var t terminal.Table
	t.Row("source", m.Source)
	t.Row("message", m.MessageID)
	t.Row("status", string(m.Status))
	t.Row("first seen", stamp(m.FirstSeenAt))
	t.Row("last seen", stamp(m.LastSeenAt))
	if !m.ProcessedAt.IsZero() {
		t.Row("processed", stamp(m.ProcessedAt))
	}
	t.Row("deliveries", strconv.FormatInt(m.Deliveries, 10))
	t.Row("attempts", strconv.Itoa(m.Attempts))
	if m.Mismatches > 0 {
		t.Row("mismatches", engine.Several(m.Mismatches, "delivery")+" with another hash")
	}
	if len(m.Hash) > 0 {
		t.Row("hash", hex.EncodeToString(m.Hash))
	}
	if !m.LockedUntil.IsZero() {
		t.Row("lease", "until "+stamp(m.LockedUntil))
	}
	if err := t.Write(a.stdout, 0); err != nil {
		return err
	}
	if m.LastError != "" {
		_, err := fmt.Fprintf(a.stdout, "\nlast error:\n%s\n", terminal.CleanText(m.LastError))
		return err
	}
	return nil
}

// inboxReviveCmd is "pawl inbox revive".
type inboxReviveCmd struct {
	Source string   `arg:"" help:"Who sent the messages."`
	IDs    []string `arg:"" name:"id" help:"The sender's ids of the messages."`
}

// Help is printed by --help.
func (*inboxReviveCmd) Help() string {
	return `The next delivery of a revived message is processed; one that waits for workers
in the inbox's queue is handled again at once.

Every message is a matter of its own, and what became of each is said. One that
is not dead stays as it is, which is no failure; one that is not found is.

Example:

    pawl inbox revive stripe evt_1 evt_2`
}

// Run revives messages.
func (c *inboxReviveCmd) Run(ctx context.Context, a *app, g *options) error {
	for _, id := range c.IDs {
		if err := checkKey(inbox.Key{Source: c.Source, MessageID: id}); err != nil {
			return err
		}
	}
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	box := s.pawl().Inbox
	var missing []string
	for _, id := range c.IDs {
		k := inbox.Key{Source: c.Source, MessageID: id}
		done, status, err := revive(ctx, box, k)
		if errors.Is(err, inbox.ErrNotFound) {
			missing = append(missing, k.String())
			continue
		}
		if err == nil {
			err = a.printRevived(k, done, status, g.JSON)
		}
		if err != nil {
			return s.close(err)
		}
	}
	if len(missing) > 0 {
		return s.close(forgotten(fmt.Errorf("%w: %s", inbox.ErrNotFound, strings.Join(missing, ", "))))
	}
	return s.close(nil)
}

// revive reports whether it revived the message, and what the message is now.
func revive(ctx context.Context, box *inbox.Inbox, k inbox.Key) (done bool, now inbox.Status, err error) {
	if done, err = box.Revive(ctx, k); err != nil || done {
		return done, inbox.Seen, err
	}
	m, err := box.Get(ctx, k)
	if err != nil {
		return false, "", err
	}
	return false, m.Status, nil
}

func (a *app) printRevived(k inbox.Key, done bool, status inbox.Status, asJSON bool) error {
	if asJSON {
		return a.printJSON(struct {
			Source    string `json:"source"`
			MessageID string `json:"message_id"`
			Revived   bool   `json:"revived"` // by this command
			Status    string `json:"status"`
		}{k.Source, k.MessageID, done, string(status)})
	}
	text := "revived"
	if !done {
		text = "is not dead: " + string(status)
	}
	_, err := fmt.Fprintln(a.stdout, terminal.Clean(fmt.Sprintf("%s  %s", k, text)))
	return err
}
