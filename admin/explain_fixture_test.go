package admin_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// explainFixture is a pawl on a fresh database without workers, unless a test adds them.
type explainFixture struct {
	*pawl.Pawl
	t     *testing.T
	db    dbtest.Database
	ahead time.Duration // of the database's clock
}

func openExplain(t *testing.T, e dbtest.Engine) *explainFixture {
	t.Helper()
	db := e.Open(t)
	p, err := pawl.New(db.DB, pawl.Options{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	return &explainFixture{Pawl: p, t: t, db: db}
}

func (f *explainFixture) ctx() context.Context { return f.t.Context() }

func (f *explainFixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// pass lets the database's clock pass d.
func (f *explainFixture) pass(d time.Duration) {
	f.t.Helper()
	f.db.Pass(d)
	if f.db.Engine() == "sqlite" {
		f.ahead += d
	}
}

// now is about what the database's clock says.
func (f *explainFixture) now() time.Time { return time.Now().Add(f.ahead) }

// worker lists a live process that handles topics of a queue.
func (f *explainFixture) worker(name, queue string, topics ...string) *registry.Registry {
	f.t.Helper()
	r := registry.New(f.db.DB, quiet(), activity.New())
	r.Show(f.ctx(), registry.Self{Name: name, Queues: []string{queue}, Topics: topics, Concurrency: 4, InFlight: func() int64 { return 3 }})
	return r
}

// crash ends the heartbeats of a listed process.
func (f *explainFixture) crash(name string) {
	f.t.Helper()
	past := "0"
	if f.db.Engine() != "sqlite" {
		past = "'2000-01-01'"
	}
	f.exec("UPDATE " + f.db.Table("worker_process") + " SET expires_at = " + past + " WHERE name = '" + name + "'")
}

func (f *explainFixture) exec(statement string) {
	f.t.Helper()
	if _, err := f.db.SQL.ExecContext(f.ctx(), statement); err != nil {
		f.t.Fatalf("%s: %v", statement, err)
	}
}

// enqueue stores a message of topic "t", unless it says otherwise.
func (f *explainFixture) enqueue(m outbox.Message) outbox.MessageID {
	f.t.Helper()
	if m.Topic == "" {
		m.Topic = "t"
	}
	id, err := f.Outbox.Enqueue(f.ctx(), m)
	f.check(err)
	return id
}

func (f *explainFixture) at(id outbox.MessageID) outbox.Position {
	f.t.Helper()
	m, err := f.Outbox.Get(f.ctx(), id)
	f.check(err)
	return m.Position
}

const leaseTime = time.Minute

// claim claims what is due in the default queue under a fresh token.
func (f *explainFixture) claim(lease time.Duration) (outbox.OwnerToken, []*outbox.Message) {
	f.t.Helper()
	owner := outbox.NewOwnerToken()
	return owner, f.claimAs(owner, lease)
}

func (f *explainFixture) claimAs(owner outbox.OwnerToken, lease time.Duration) []*outbox.Message {
	f.t.Helper()
	msgs, err := f.Outbox.WorkQueue("").Claim(f.ctx(), owner, lease, 100)
	f.check(err)
	if len(msgs) == 0 {
		f.t.Fatal("nothing to claim")
	}
	return msgs
}

// one claims the only message that is due.
func (f *explainFixture) one() (outbox.OwnerToken, outbox.Position) {
	f.t.Helper()
	owner, msgs := f.claim(leaseTime)
	if len(msgs) != 1 {
		f.t.Fatalf("claimed %d messages, want 1", len(msgs))
	}
	return owner, msgs[0].Position
}

// settled insists on one thing settled.
func (f *explainFixture) settled(n int64, err error) {
	f.t.Helper()
	f.check(err)
	if n != 1 {
		f.t.Fatalf("settled %d, want 1", n)
	}
}

// explain explains an id and insists on what holds it, in order.
func (f *explainFixture) explain(id string, want ...string) *admin.Explanation {
	f.t.Helper()
	x, err := f.Admin.Explain(f.ctx(), id)
	f.check(err)
	f.reasons(x, want...)
	return x
}

func (f *explainFixture) reasons(x *admin.Explanation, want ...string) {
	f.t.Helper()
	got := []string{x.Code}
	for _, h := range x.Also {
		got = append(got, h.Code)
	}
	if !slices.Equal(got, want) {
		f.t.Fatalf("%s %s: the reasons are %q, want %q: %s", x.Kind, x.ID, got, want, x.Summary)
	}
	for _, h := range append([]health.Finding{x.Finding}, x.Also...) {
		if !strings.HasSuffix(h.Summary, ".") && !strings.HasSuffix(h.Summary, "…") || strings.Contains(h.Summary, "%!") || strings.Contains(h.Summary, "..") || strings.Contains(h.Summary, "0001-01-01") {
			f.t.Errorf("not a sentence: %q", h.Summary)
		}
	}
}

// because insists on what an explanation rests on: kinds and reasons.
func (f *explainFixture) because(x *admin.Explanation, want ...string) {
	f.t.Helper()
	var got []string
	for _, b := range x.Causes {
		got = append(got, string(b.Kind)+" "+b.Code)
	}
	if !slices.Equal(got, want) {
		f.t.Fatalf("%s %s: because of %q, want %q", x.Kind, x.ID, got, want)
	}
}

// says insists on parts of the first sentence.
func (f *explainFixture) says(x *admin.Explanation, parts ...string) {
	f.t.Helper()
	for _, part := range parts {
		if !strings.Contains(x.Summary, part) {
			f.t.Errorf("no %q in %q", part, x.Summary)
		}
	}
}

func (f *explainFixture) fact(x *admin.Explanation, key, part string) {
	f.t.Helper()
	if got, _ := x.Facts.Get(key).(string); !strings.Contains(got, part) || got == "" {
		f.t.Errorf("%s is %q, want %q: %v", key, got, part, x.Facts)
	}
}

func (f *explainFixture) next(x *admin.Explanation, want string) {
	f.t.Helper()
	if x.NextStep != want {
		f.t.Errorf("next is %q, want %q", x.NextStep, want)
	}
}
