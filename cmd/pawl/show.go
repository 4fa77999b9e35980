package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/acts"
	"github.com/bravellian/pawl/internal/codec"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// showCmd is "pawl show".
type showCmd struct {
	ID      string `arg:"" help:"Id of the message: a UUID, or its position in the queue."`
	Payload bool   `help:"Print the payload and nothing else, byte for byte unless to a terminal."`
}

// Run shows a message.
func (c *showCmd) Run(ctx context.Context, a *app, g *options) error {
	s, err := g.open(ctx, opening{})
	if err != nil {
		return err
	}
	box := s.pawl().Outbox
	i, err := lookUp(ctx, box, c.ID)
	var attempts []acts.Attempt
	if err == nil && !c.Payload {
		attempts, err = box.Operator(access.Key{}).Attempts(ctx, i.Position)
	}
	if err := s.close(err); err != nil {
		return err
	}
	switch {
	case c.Payload && terminal.Is(a.stdout):
		_, err = io.WriteString(a.stdout, readable(i.Payload))
	case c.Payload:
		_, err = a.stdout.Write(i.Payload)
	case g.JSON:
		err = a.printJSON(view.OfStory(i, attempts))
	default:
		err = a.printMessage(i, attempts)
	}
	return err
}

// lookUp finds a message by its id or its position.
func lookUp(ctx context.Context, o *outbox.Outbox, id string) (*outbox.Info, error) {
	var i *outbox.Info
	var err error
	if position, failure := strconv.ParseInt(id, 10, 64); failure == nil {
		i, err = o.GetByPosition(ctx, outbox.Position(position))
	} else if mid, failure := outbox.ParseMessageID(id); failure == nil {
		i, err = o.Get(ctx, mid)
	} else {
		return nil, usage("%q is neither a UUID nor a position", id)
	}
	return i, forgotten(err)
}

func (a *app) printMessage(i *outbox.Info, attempts []acts.Attempt) error {
	var t terminal.Table
	row := func(name, value string) {
		if value != "" {
			t.Row(name, value)
		}
	}
	row("message", i.ID.String())
	row("id", strconv.FormatInt(int64(i.Position), 10))
	row("topic", i.Topic)
	row("status", string(view.MessageStatus(i)))
	row("queue", fmt.Sprintf("%s, priority %d", i.Queue, i.Priority))
	row("ordering key", i.OrderingKey)
	row("unique key", i.UniqueKey)
	row("unique until", stampKnown(i.UniqueUntil))
	row("correlation", i.CorrelationID)
	row("headers", headerText(view.Headers(i.Headers)))
	row("created", stamp(i.CreatedAt))
	row("due", stampKnown(i.Due))
	row("expires", stampKnown(i.Expires))
	row("retries", strconv.Itoa(i.RetryCount))
	if i.Status == outbox.Ready {
		row("next attempt", stamp(i.NextAttemptAt))
	}
	if !i.LockedUntil.IsZero() && i.Owner != (outbox.OwnerToken{}) {
		row("lease", "until "+stamp(i.LockedUntil)+" of "+i.Owner.String())
	}
	if !i.ProcessedAt.IsZero() {
		row("processed", stamp(i.ProcessedAt)+" by "+i.ProcessedBy)
	}
	if i.Redrives > 0 {
		row("redriven", engine.Several(i.Redrives, "time"))
	}
	if err := t.Write(a.stdout, 0); err != nil {
		return err
	}
	if i.Unreadable != "" {
		fmt.Fprintf(a.stdout, "\n%s\n", terminal.CleanText(i.Unreadable))
	}
	switch {
	case len(attempts) > 0:
		fmt.Fprintln(a.stdout, "\nfailed attempts:")
		for _, t := range attempts {
			fmt.Fprintf(a.stdout, "%d, %s%s: %s\n", t.Number, stamp(t.EndedAt), byWorker(t.Worker), indented(t.Error))
		}
	case i.LastError != "":
		fmt.Fprintf(a.stdout, "\nlast error:\n%s\n", terminal.CleanText(i.LastError))
	}
	shown := fmt.Sprintf(" (%s):\n%s", engine.Several(len(i.Payload), "byte"), readable(i.Payload))
	if what, ok := codec.Describe(i.Payload); ok {
		shown = ": " + what + "\n"
	}
	_, err := fmt.Fprintf(a.stdout, "\npayload%s", shown)
	return err
}

func headerText(headers map[string]string) string {
	if len(headers) == 0 {
		return ""
	}
	text, _ := json.Marshal(headers) // a map of strings always can be
	return string(text)
}

// dumpBytes is how much of a payload that is no text is shown.
const dumpBytes = 1 << 10

// readable is a payload as text that cannot harm a terminal, or a hex dump.
func readable(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if isText(b) {
		return terminal.CleanText(string(b)) + "\n"
	}
	dump := hex.Dump(b[:min(len(b), dumpBytes)])
	if len(b) > dumpBytes {
		dump += fmt.Sprintf("… %d more bytes; for all: pawl show --payload ID > FILE\n", len(b)-dumpBytes)
	}
	return dump
}

// isText reports whether nearly all of it is printable: a stray escape sequence
// is to be seen within its text.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	strange := 0
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			strange++
		}
	}
	return strange <= len(b)/10
}

// indented is text of several lines that is part of a list: only its first line begins where entries do.
func indented(s string) string { return strings.ReplaceAll(terminal.CleanText(s), "\n", "\n    ") }

func byWorker(name string) string {
	if name == "" {
		return ""
	}
	return " by " + terminal.Clean(name)
}
