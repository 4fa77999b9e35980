package join_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// OBX-095, JOIN-020
func TestList(t *testing.T) { dbtest.Each(t, testList) }

func testList(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	var all []join.ID
	for _, key := range []string{"a", "b", "a", "", "a"} {
		id, err := f.Start(f.ctx(), join.Spec{ExpectedSteps: 1, GroupingKey: key})
		f.check(err)
		all = append(all, id)
		if key == "b" {
			_, err := f.Cancel(f.ctx(), id)
			f.check(err)
		}
	}
	for _, c := range []struct {
		filter join.ListOptions
		want   []int
	}{
		{join.ListOptions{}, []int{4, 3, 2, 1, 0}},
		{join.ListOptions{GroupingKey: "a"}, []int{4, 2, 0}},
		{join.ListOptions{GroupingKey: "a", After: &join.Info{ID: all[4]}}, []int{2, 0}},
		{join.ListOptions{Status: join.Cancelled}, []int{1}},
		{join.ListOptions{Status: join.Pending, After: &join.Info{ID: all[3]}}, []int{2, 0}},
		{join.ListOptions{GroupingKey: "b", Status: join.Pending}, nil},
		{join.ListOptions{GroupingKey: "none"}, nil},
	} {
		got, err := engine.Collect(f.List(f.ctx(), c.filter), 100)
		f.check(err)
		var want []join.ID
		for _, i := range c.want {
			want = append(want, all[i])
		}
		var ids []join.ID
		for _, j := range got {
			ids = append(ids, j.ID)
		}
		if !slices.Equal(ids, want) {
			t.Fatalf("%+v lists %v, want %v", c.filter, ids, want)
		}
	}
}

// OBX-083
func TestMembers(t *testing.T) { dbtest.Each(t, testMembers) }

func testMembers(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(5)
	owner, items := f.claim(5)
	f.ack(owner, items[msgs[1]])
	f.fail(owner, items[msgs[3]])
	var all []outbox.MessageID
	for after := (*join.Member)(nil); ; {
		page, err := engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{After: after}), 2)
		f.check(err)
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			all = append(all, m.MessageID)
		}
		after = &page[len(page)-1]
	}
	if !slices.Equal(all, msgs) {
		t.Fatalf("paged through %v, want %v", all, msgs)
	}
	for status, want := range map[join.Status]outbox.MessageID{join.Completed: msgs[1], join.Failed: msgs[3]} {
		got, err := engine.Collect(f.Members(f.ctx(), id, join.MembersOptions{Status: status}), 100)
		f.check(err)
		if len(got) != 1 || got[0].MessageID != want || got[0].Status != status {
			t.Fatalf("%v members: %v", status, got)
		}
	}
}

// D-31
func TestGetUnknown(t *testing.T) { dbtest.Each(t, testGetUnknown) }

func testGetUnknown(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	if _, err := f.Get(f.ctx(), uuid.New()); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	if _, err := engine.Collect(f.Members(f.ctx(), uuid.New(), join.MembersOptions{}), 100); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	if _, err := engine.Collect(f.List(f.ctx(), join.ListOptions{Status: "over"}), 100); !errors.Is(err, engine.ErrInvalid) {
		t.Fatalf("want ErrInvalid, got %v", err)
	}
	if _, err := engine.Collect(f.Members(f.ctx(), f.start(1), join.MembersOptions{Status: "over"}), 100); !errors.Is(err, engine.ErrInvalid) {
		t.Fatalf("want ErrInvalid, got %v", err)
	}
	if members, err := engine.Collect(f.Members(f.ctx(), f.start(1), join.MembersOptions{}), 100); err != nil || len(members) != 0 {
		t.Fatalf("%v, %v", members, err)
	}
}

// D-37
func TestTwoDatabases(t *testing.T) { dbtest.Each(t, testTwoDatabases) }

func testTwoDatabases(t *testing.T, e dbtest.Engine) {
	here, there := open(t, e), open(t, e)
	id := here.start(1)
	if _, err := there.Get(t.Context(), id); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("a join of another database was found: %v", err)
	}
	if err := here.Attach(t.Context(), id, there.enqueue("step", 1)...); !errors.Is(err, outbox.ErrNotFound) {
		t.Fatalf("a message of another database was attached: %v", err)
	}
}

// OBX-111, D-102
func TestSeedTables(t *testing.T) { dbtest.Each(t, testSeedTables) }

func testSeedTables(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	id, msgs := f.members(2)
	owner, items := f.claim(2)
	f.ack(owner, items[msgs[0]])
	var gotID, member, message string
	var expected, completed, failed, status, memberStatus int
	var created, updated, memberCreated any
	var key, metadata *string
	text := func(id string) string { return id }
	if f.db.Engine() == "sqlserver" { // whose driver gives the bytes of a uniqueidentifier
		text = func(id string) string { return "LOWER(CONVERT(nvarchar(36), " + id + "))" }
	}
	f.db.Row(t, "SELECT "+text("join_id")+", grouping_key, expected_steps, completed_steps, failed_steps, status, created_utc, last_updated_utc, metadata FROM "+
		f.db.Table("outbox_joins"), &gotID, &key, &expected, &completed, &failed, &status, &created, &updated, &metadata)
	f.db.Row(t, "SELECT "+text("join_id")+", "+text("outbox_message_id")+", status, created_utc FROM "+f.db.Table("outbox_join_members")+" WHERE status = 1", &member, &message, &memberStatus, &memberCreated)
	if gotID != id.String() || expected != 2 || completed != 1 || failed != 0 || status != 0 || key != nil || metadata != nil || created == nil || updated == nil {
		t.Fatalf("the table says %s %d %d %d %d", gotID, expected, completed, failed, status)
	}
	if member != id.String() || message != msgs[0].String() || memberCreated == nil {
		t.Fatalf("the member table says %s %s", member, message)
	}
}

// retention is what on gives its outbox.
const retention = time.Hour

// age makes what is done look old, on any engine.
func (f *fixture) age() {
	f.t.Helper()
	tables := [][2]string{{"outbox_done", "processed_at"}, {"outbox_exception", "updated_at"}, {"outbox_join", "last_updated_utc"}}
	for _, c := range tables {
		if _, err := f.db.SQL.ExecContext(f.ctx(), "UPDATE "+f.db.Table(c[0])+" SET "+c[1]+" = "+f.db.Ago(2*time.Hour)); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *fixture) cleaned(messages, joins int64) {
	f.t.Helper()
	n, err := f.box.CleanUp(f.ctx())
	f.check(err)
	m, err := f.CleanUp(f.ctx())
	f.check(err)
	if n != messages || m != joins {
		f.t.Fatalf("cleaned up %d messages and %d joins, want %d and %d", n, m, messages, joins)
	}
}

// D-25
func TestCleanUpKeepsMessages(t *testing.T) { dbtest.Each(t, testCleanUpKeepsMessages) }

func testCleanUpKeepsMessages(t *testing.T, e dbtest.Engine) {
	f := open(t, e, join.Options{Retention: retention})
	id, msgs := f.members(3)
	f.enqueue("step", 2)
	owner, items := f.claim(5)
	f.ack(owner, items[msgs[0]], items[msgs[1]])
	for m, at := range items {
		if !slices.Contains(msgs, m) {
			f.ack(owner, at)
		}
	}
	f.age()
	f.cleaned(2, 0)
	f.find(msgs[0])
	f.ack(owner, items[msgs[2]])
	f.progress(id, 3, 0, join.Completed)
	f.age()
	f.cleaned(3, 1)
	if _, err := f.Get(f.ctx(), id); !errors.Is(err, join.ErrNotFound) {
		t.Fatalf("the join was kept: %v", err)
	}
	var members int
	f.db.Row(t, "SELECT count(*) FROM "+f.db.Table("outbox_join_member"), &members)
	if members != 0 {
		t.Errorf("%d members of no join", members)
	}
}

// D-25
func TestCleanUpKeepsPending(t *testing.T) { dbtest.Each(t, testCleanUpKeepsPending) }

func testCleanUpKeepsPending(t *testing.T, e dbtest.Engine) {
	f := open(t, e, join.Options{Retention: retention})
	pending, cancelled, fresh := f.start(1), f.start(1), f.start(1)
	_, err := f.Cancel(f.ctx(), cancelled)
	f.check(err)
	f.age()
	_, err = f.Cancel(f.ctx(), fresh)
	f.check(err)
	f.cleaned(0, 1)
	f.progress(pending, 0, 0, join.Pending)
	f.progress(fresh, 0, 0, join.Cancelled)
}

// D-34, D-25: a wait that was not handled yet still finds its join.
func TestCleanUpKeepsWaits(t *testing.T) { dbtest.Each(t, testCleanUpKeepsWaits) }

func testCleanUpKeepsWaits(t *testing.T, e dbtest.Engine) {
	f := open(t, e, join.Options{Retention: retention})
	id := f.start(1)
	f.wait(id)
	f.drain(nil)
	f.check(f.Attach(f.ctx(), id, f.enqueue("step", 1)...))
	owner, items := f.claim(1)
	for _, at := range items {
		f.ack(owner, at)
	}
	f.progress(id, 1, 0, join.Completed)
	f.age()
	f.cleaned(1, 0)
	f.drain(nil)
	f.sent("done", 1)
	f.age()
	f.cleaned(1, 1)
}

// D-25: what is kept does not keep the rest.
func TestCleanUpKeepsMany(t *testing.T) { dbtest.Each(t, testCleanUpKeepsMany) }

func testCleanUpKeepsMany(t *testing.T, e dbtest.Engine) {
	f := open(t, e, join.Options{Retention: retention})
	id, msgs := f.start(1000), f.enqueue("step", 500)
	f.check(f.Attach(f.ctx(), id, msgs...))
	later := f.enqueue("step", 3)
	owner, items := f.claim(503)
	for i := 0; i < len(msgs); i += 2 { // in parts, so that they form many runs
		f.ack(owner, items[msgs[i]])
	}
	f.ack(owner, items[later[0]], items[later[1]], items[later[2]])
	f.age()
	f.cleaned(3, 0)
}

// D-25
func TestCleanUpKeepsDiscarded(t *testing.T) { dbtest.Each(t, testCleanUpKeepsDiscarded) }

func testCleanUpKeepsDiscarded(t *testing.T, e dbtest.Engine) {
	f := open(t, e, join.Options{Retention: retention})
	id, msgs := f.members(2)
	f.enqueue("step", 1)
	owner, items := f.claim(3)
	for _, at := range items {
		f.fail(owner, at)
	}
	f.progress(id, 0, 2, join.Failed)
	other := f.start(2)
	f.check(f.Attach(f.ctx(), other, msgs[0]))
	_, err := f.box.Discard(f.ctx(), outbox.FailedFilter{})
	f.check(err)
	f.age()
	f.cleaned(2, 1)
	f.find(msgs[0])
	f.progress(other, 0, 1, join.Pending)
}
