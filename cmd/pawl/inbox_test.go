package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/view"
	"github.com/bravellian/pawl/outbox"
)

// receive has messages come in, the way that programs do it.
func (d *database) receive(do func(context.Context, *inbox.Inbox) error) {
	d.t.Helper()
	d.opened(func(s *store) {
		if err := do(d.t.Context(), s.pawl().Inbox); err != nil {
			d.t.Fatal(err)
		}
	})
}

func seen(ctx context.Context, box *inbox.Inbox, source string, ids ...string) error {
	for _, id := range ids {
		if _, err := box.AlreadyProcessed(ctx, inbox.Key{Source: source, MessageID: id, Hash: []byte{0xab}}); err != nil {
			return err
		}
	}
	return nil
}

func TestInboxShow(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.receive(func(ctx context.Context, box *inbox.Inbox) error {
			k := inbox.Key{Source: "stripe", MessageID: "evt\x1b[2J", Hash: []byte{0xab}}
			err := box.Once(ctx, k, func(context.Context, outbox.Tx) error { return errors.New("no such\x1b customer") })
			if err == nil {
				return errors.New("the handler's error is gone")
			}
			_, err = box.AlreadyProcessed(ctx, inbox.Key{Source: "stripe", MessageID: "evt\x1b[2J", Hash: []byte{0xcd}})
			if !errors.Is(err, inbox.ErrHashMismatch) {
				return err
			}
			return seen(ctx, box, "stripe", "evt\x1b[2J")
		})
		out := d.must("", "inbox", "show", "stripe", "evt\x1b[2J")
		for _, want := range []string{"stripe", `evt\x1b[2J`, "Seen", "ab", "1 delivery with another hash", `no such\x1b customer`} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		var v view.Inbox
		decode(t, d.must("", "inbox", "show", "stripe", "evt\x1b[2J", "--json"), &v)
		if v.MessageID != "evt\x1b[2J" || v.Attempts != 1 || v.Mismatches != 1 || v.Hash != "ab" || !v.ProcessedAt.IsZero() || v.LastError != "no such\x1b customer" {
			t.Errorf("%+v", v)
		}
		if out := d.must("", "inbox", "ls"); strings.Contains(out, "\x1b") || !strings.Contains(out, `evt\x1b[2J`) {
			t.Errorf("%q", out)
		}
	})
}

func TestInboxListFiltersAndPages(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.receive(func(ctx context.Context, box *inbox.Inbox) error {
			if err := errors.Join(seen(ctx, box, "https://a b/c", "1/1", "2 & '%", "3"), seen(ctx, box, "z", "1", "2")); err != nil {
				return err
			}
			_, err1 := box.MarkProcessed(ctx, inbox.Key{Source: "z", MessageID: "1"})
			_, err2 := box.MarkDead(ctx, inbox.Key{Source: "z", MessageID: "2"})
			return errors.Join(err1, err2)
		})
		r := d.run("", "inbox", "ls", "--limit", "2")
		_, after, found := strings.Cut(strings.TrimSpace(r.stderr), "there may be more: --after ")
		if !found || after != "https%3A%2F%2Fa%20b%2Fc/2%20%26%20%27%25" || len(lines(r.stdout)) != 3 {
			t.Errorf("first page: %+v", r)
		}
		for _, c := range []struct {
			args []string
			want int
		}{
			{[]string{"--after", after}, 3}, {[]string{"--after", "z/1"}, 1}, {[]string{"--source", "z"}, 2},
			{[]string{"--status", "Seen"}, 3}, {[]string{"--status", "dead"}, 1}, {[]string{"--status", "Done", "--source", "z"}, 1},
		} {
			if out := d.must("", append([]string{"inbox", "ls", "--json"}, c.args...)...); len(lines(out)) != c.want {
				t.Errorf("%q: want %d\n%s", c.args, c.want, out)
			}
		}
		if r := d.run("", "inbox", "list", "--status", "Processing"); r.code != exitOK || r.stdout != "" || r.stderr != "no messages\n" {
			t.Errorf("none: %+v", r)
		}
	})
}

func TestInboxStuck(t *testing.T) {
	d := onSQLite(t)
	d.opened(func(s *store) {
		ctx, box := t.Context(), s.pawl().Inbox
		if err := seen(ctx, box, "s", "old", "new", "waits"); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"old", "new"} {
			if _, err := box.MarkProcessing(ctx, inbox.Key{Source: "s", MessageID: id}); err != nil {
				t.Fatal(err)
			}
		}
		lite := s.DB.(*sqlite.DB).SQL()
		if _, err := lite.ExecContext(ctx, `UPDATE inbox SET last_seen_utc = 0 WHERE message_id <> 'new'`); err != nil {
			t.Fatal(err)
		}
	})
	var v view.Inbox
	if decode(t, d.must("", "inbox", "ls", "--stuck", "--json"), &v); v.MessageID != "old" {
		t.Errorf("%+v", v)
	}
}

func TestInboxRevive(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.receive(func(ctx context.Context, box *inbox.Inbox) error {
			if err := seen(ctx, box, "s", "dead", "alive"); err != nil {
				return err
			}
			_, err := box.MarkDead(ctx, inbox.Key{Source: "s", MessageID: "dead"})
			return err
		})
		// Nothing is touched where one is no id.
		if r := d.run("", "inbox", "revive", "s", "dead", ""); r.code != exitUsage || !strings.Contains(d.must("", "inbox", "show", "s", "dead"), "Dead") {
			t.Errorf("with a mistake: %+v", r)
		}
		r := d.run("", "inbox", "revive", "s", "alive", "unknown", "dead", "un\x1bknown")
		want := "s/alive  is not dead: Seen\ns/dead  revived\n"
		if r.code != exitFailure || r.stdout != want || r.stderr != `pawl: message not found in the inbox: s/unknown, s/un\x1bknown (or it was cleaned up)`+"\n" {
			t.Errorf("%+v; want %q", r, want)
		}
		var v struct {
			Revived bool
			Status  string
		}
		decode(t, d.must("", "inbox", "revive", "s", "dead", "--json"), &v)
		if v.Revived || v.Status != "Seen" {
			t.Errorf("again: %+v", v)
		}
	})
}
