package admin_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// failed leaves n failed messages of topic p.
func (f *fixture) failed(n int) []outbox.Position {
	f.t.Helper()
	ids := f.mixed(n, "p")["p"]
	for part := ids; len(part) > 0; {
		k := min(len(part), 1000)
		owner, _ := f.claim(time.Minute, k)
		if got, err := f.Outbox.WorkQueue("").Fail(f.ctx(), owner, errors.New("no"), part[:k]...); err != nil || int(got) != k {
			f.t.Fatal(got, err)
		}
		part = part[k:]
	}
	return ids
}

// only insists on a single entry.
func (f *fixture) only(action string, n int64) audit.Entry {
	f.t.Helper()
	all := f.trail(audit.Options{Action: action})
	if len(all) != 1 || all[0].Count != n || all[0].Action != action {
		f.t.Fatalf("the trail has %+v, want one %s of %d", all, action, n)
	}
	return all[0]
}

func TestAuditActions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		before := time.Now().Add(-time.Minute)
		ctx := admin.WithActor(f.ctx(), "alice@ops")
		dead := f.failed(5)
		waiting := f.mixed(4, "q")["q"]
		_, err := f.Outbox.Redrive(ctx, outbox.FailedFilter{IDs: dead[:2]})
		f.check(err)
		_, err = f.Outbox.Discard(ctx, outbox.FailedFilter{Topic: "p"})
		f.check(err)
		_, err = f.Outbox.Cancel(ctx, "why", waiting[:3]...)
		f.check(err)
		_, err = f.Outbox.Reschedule(ctx, time.Time{}, waiting...)
		f.check(err)
		for _, kind := range []admin.Kind{admin.Topic, admin.Queue} {
			_, err := f.Admin.Pause(ctx, kind, "x y", "")
			f.check(err)
			_, err = f.Admin.Resume(ctx, kind, "x y")
			f.check(err)
		}
		var got []string
		for _, entry := range f.trail(audit.Options{}) {
			got = append(got, fmt.Sprintf("%s %d %s", entry.Action, entry.Count, entry.Target))
			if entry.Actor != "alice@ops" || entry.ID == uuid.Nil || entry.At.Before(before) || entry.At.Location() != time.UTC {
				t.Errorf("%+v", entry)
			}
		}
		want := []string{
			"resume 1 queue x y", "pause 1 queue x y", "resume 1 topic x y", "pause 1 topic x y", "reschedule 1 4 messages", "cancel 3 3 messages",
			"discard 3 failed messages of topic p", "redrive 2 2 failed messages",
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("the trail has\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestAuditOfNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		done := f.mixed(1, "p")["p"]
		owner, _ := f.claim(time.Minute, 1)
		_, err := f.Outbox.WorkQueue("").Ack(f.ctx(), owner, done...)
		f.check(err)
		for _, filter := range []outbox.FailedFilter{{}, {IDs: done}, {Topic: "p"}, {IDs: []outbox.Position{}}} {
			for _, do := range []func(context.Context, outbox.FailedFilter) (outbox.Bulk, error){f.Outbox.Redrive, f.Outbox.Discard} {
				if b, err := do(f.ctx(), filter); b.Changed != 0 || err != nil {
					t.Fatal(b, err)
				}
			}
		}
		for _, ids := range [][]outbox.Position{nil, done, {1 << 40}} {
			if n, err := f.Outbox.Cancel(f.ctx(), "why", ids...); n != 0 || err != nil {
				t.Fatal(n, err)
			}
			if n, err := f.Outbox.Reschedule(f.ctx(), time.Time{}, ids...); n != 0 || err != nil {
				t.Fatal(n, err)
			}
		}
		f.resumes(false, admin.Topic, "p")
		if all := f.trail(audit.Options{}); len(all) != 0 {
			t.Fatalf("nothing changed, and there is %+v", all)
		}
		f.failed(2)
		if n, err := f.Outbox.Operator(access.Key{}).CountFailed(f.ctx(), outbox.FailedFilter{}); n.Changed != 2 || err != nil {
			t.Fatal(n, err)
		}
		if all := f.trail(audit.Options{}); len(all) != 0 {
			t.Fatalf("somebody counted, and there is %+v", all)
		}
	})
}

// spoiled is a database whose transactions that run an operation fail after it.
type spoiled struct {
	engine.DB
	op string
}

var errSpoiled = errors.New("the transaction failed")

func (d *spoiled) Do(ctx context.Context, calls ...*engine.Call) error {
	for _, c := range calls {
		if c.Name() != d.op {
			continue
		}
		if each := c.Each; each != nil {
			c.Each = func(r engine.Row) error {
				if err := each(r); err != nil {
					return err
				}
				return errSpoiled
			}
		}
	}
	note := audit.New(ctx, "x") // of more than its column can hold, once the second call adds to it
	return d.DB.Do(ctx, append(calls, note.Call("x", math.MaxInt64), note.Call("x", math.MaxInt64))...)
}

// changes are all that leaves a note, with what they are done to.
func (f *fixture) changes(on *fixture) map[string]func() error {
	dead, waiting := f.failed(2), f.mixed(2, "q")["q"]
	f.pause(admin.Topic, "x")
	f.pause(admin.Queue, "x")
	return map[string]func() error{
		"outbox/redrive": func() error {
			_, err := on.Outbox.Redrive(f.ctx(), outbox.FailedFilter{IDs: dead})
			return err
		},
		"outbox/discard": func() error {
			_, err := on.Outbox.Discard(f.ctx(), outbox.FailedFilter{IDs: dead})
			return err
		},
		"outbox/cancel": func() error { _, err := on.Outbox.Cancel(f.ctx(), "why", waiting...); return err },
		"outbox/reschedule": func() error {
			_, err := on.Outbox.Reschedule(f.ctx(), time.Now().Add(time.Hour), waiting...)
			return err
		},
		"pause/put": func() error { _, err := on.Admin.Pause(f.ctx(), admin.Topic, "p", ""); return err },
		"pause/end": func() error {
			_, err := on.Admin.Resume(f.ctx(), admin.Queue, "x")
			_, other := on.Admin.Resume(f.ctx(), admin.Topic, "x")
			return errors.Join(err, other)
		},
	}
}

// D-116: a transaction that fails after the change leaves neither the change nor a note.
func TestAuditWithTheChange(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		bad := &spoiled{DB: f.db.DB}
		spoiling := on(t, f.db, bad, pawl.Options{})
		changes, acts := f.changes(spoiling), f.acts(spoiling)
		before, err := f.Outbox.Count(f.ctx())
		f.check(err)
		notes := len(f.trail(audit.Options{}))
		for op, change := range changes {
			bad.op = op
			if err := change(); err == nil {
				t.Errorf("%s: no error", op)
			}
			f.counts(before)
			if all := f.trail(audit.Options{}); len(all) != notes {
				t.Errorf("%s failed and left %+v", op, all[:len(all)-notes])
			}
			if all := f.paused(); len(all) != 2 || all[0].Ending || all[1].Ending {
				t.Errorf("%s failed and left %+v", op, all)
			}
		}
		for _, a := range acts {
			bad.op = a.name
			state := a.state()
			if err := a.do(f.ctx()); err == nil || a.state() != state || len(f.trail(audit.Options{})) != notes {
				t.Errorf("%s: %v, and it was %s and is %s", a.name, err, state, a.state())
			}
		}
	})
}

// D-116: what cannot be noted is not done.
func TestAuditFailsWithTheNote(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		changes, acts := f.changes(f), f.acts(f)
		before, err := f.Outbox.Count(f.ctx())
		f.check(err)
		f.db.RenameColumn(t, "audit_trail", "actor", "somebody")
		defer f.db.RenameColumn(t, "audit_trail", "somebody", "actor") // for tests that get this schema
		for op, change := range changes {
			if err := change(); err == nil {
				t.Errorf("%s was done without a note", op)
			}
			f.counts(before)
			if all := f.paused(); len(all) != 2 || all[0].Ending || all[1].Ending {
				t.Errorf("%s failed and left %+v", op, all)
			}
		}
		for _, a := range acts {
			if state := a.state(); a.do(f.ctx()) == nil || a.state() != state {
				t.Errorf("%s was done without a note", a.name)
			}
		}
	})
}

// What takes several transactions has one entry.
func TestAuditGrows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		f.failed(2500)
		b, err := f.Outbox.Redrive(f.ctx(), outbox.FailedFilter{})
		if err != nil || b.Changed != 2500 {
			t.Fatal(b.Changed, err)
		}
		f.only(audit.Redrive, 2500)
		ids := f.mixed(2500, "q")["q"]
		if n, err := f.Outbox.Cancel(f.ctx(), "why", ids...); err != nil || n != 2500 {
			t.Fatal(n, err)
		}
		f.only(audit.Cancel, 2500)
	})
}

// processName is what acts are noted by that name no actor.
func processName() string {
	host, _ := os.Hostname()
	return host + ":" + strconv.Itoa(os.Getpid())
}

func TestAuditActors(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		self := processName()
		long := strings.Repeat("ü", 300)
		for given, want := range map[string]string{
			"bob": "bob", "": self, " \t": self, long: strings.Repeat("ü", 254) + "…", "a\x00b\xff": "a\uFFFDb\uFFFD", `o'Brien "x" 日本`: `o'Brien "x" 日本`,
		} {
			_, err := f.Admin.Pause(admin.WithActor(f.ctx(), given), admin.Topic, "p", "")
			f.check(err)
			if all := f.paused(); all[0].Actor != want {
				t.Errorf("paused by %q, want %q", all[0].Actor, want)
			}
			if got := f.trail(audit.Options{})[0].Actor; got != want {
				t.Errorf("noted as %q, want %q", got, want)
			}
			f.resume(admin.Topic, "p")
			if got := f.trail(audit.Options{})[0].Actor; got != self {
				t.Errorf("resumed by %q, want %q", got, self)
			}
		}
		inner := admin.WithActor(admin.WithActor(f.ctx(), "outer"), "inner")
		_, err := f.Admin.Pause(inner, admin.Topic, "p", "")
		f.check(err)
		if got := f.trail(audit.Options{})[0].Actor; got != "inner" {
			t.Errorf("noted as %q", got)
		}
	})
}

// Targets are what people wrote, cut where they are too long.
func TestAuditTexts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		for _, name := range odd() {
			f.pause(admin.Topic, name)
			if got := f.trail(audit.Options{})[0].Target; got != "topic "+name {
				t.Errorf("noted %q of %q", got, name)
			}
		}
		f.failed(1)
		part := strings.Repeat("日", 1500)
		owner := outbox.NewOwnerToken()
		f.put(outbox.Message{Topic: "q"})
		msgs, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, time.Minute, 1)
		f.check(err)
		_, err = f.Outbox.WorkQueue("").Fail(f.ctx(), owner, errors.New(part), msgs[0].Position)
		f.check(err)
		kept := f.get(msgs[0].Position).LastError
		if b, err := f.Outbox.Redrive(f.ctx(), outbox.FailedFilter{Error: kept}); b.Changed != 1 || err != nil {
			t.Fatal(b.Changed, err)
		}
		got := f.trail(audit.Options{})[0].Target
		if runes := []rune(got); len(runes) > 1000 || !strings.HasPrefix(got, `failed messages with error "日`) {
			t.Errorf("noted %d characters: %q", len(runes), got)
		}
	})
}

// Components may note what has no operation that does.
func TestAuditNote(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		note := audit.New(admin.WithActor(f.ctx(), "carol"), "the lock of job x")
		for _, n := range []int64{0, 3, 4} {
			call := note.Call(audit.Fix, n)
			f.check(f.db.Do(f.ctx(), call))
			if call.N != n {
				t.Fatalf("it answered %d, want %d", call.N, n)
			}
		}
		if got := f.only(audit.Fix, 7); got.Actor != "carol" || got.Target != "the lock of job x" {
			t.Fatalf("%+v", got)
		}
	})
}

// notes makes n entries and returns them, newest first.
// Many who redrive at once share the messages out, and each notes its own part.
