package timer_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// D-70, D-1: what a timer is at each point of its life; times are the database's.
func TestGet(t *testing.T) { dbtest.Each(t, testGet) }

func testGet(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.pass(short)
	before := f.now().Add(-time.Second)
	id := f.put(f.whole())
	got := f.get(id, timer.Scheduled)
	if got.CreatedAt.Before(before) || got.CreatedAt.After(f.now().Add(time.Second)) || got.CreatedAt.Location() != time.UTC || !got.EndedAt.IsZero() {
		t.Fatalf("created at %v, ended at %v", got.CreatedAt, got.EndedAt)
	}
	if !got.NextAttemptAt.Equal(got.Due) || got.Due.Location() != time.UTC || got.Position == 0 || got.Owner != (outbox.OwnerToken{}) {
		t.Fatalf("scheduled as %+v", got)
	}
	f.fires(1)
	got = f.get(id, timer.Fired)
	if got.EndedAt.Before(got.CreatedAt) || got.EndedAt.Location() != time.UTC || len(got.Payload) != 0 || got.Headers["a"] != "1" {
		t.Fatalf("fired as %+v", got)
	}
}

func TestNotFound(t *testing.T) { dbtest.Each(t, testNotFound) }

func testNotFound(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.unknown(timer.ID{})
	f.unknown(timer.ID{1})
	if _, err := f.GetKey(f.ctx(), "k"); !errors.Is(err, timer.ErrNotFound) {
		t.Fatalf("want ErrNotFound, got %v", err)
	}
	if got, err := engine.Collect(f.List(f.ctx(), timer.ListOptions{}), 100); err != nil || len(got) != 0 {
		t.Fatalf("%v, %v", got, err)
	}
}

// listed lists and returns the ids.
func (f *fixture) listed(filter timer.ListOptions) []timer.ID {
	f.t.Helper()
	got, err := engine.Collect(f.List(f.ctx(), filter), 100)
	f.check(err)
	for _, info := range got {
		if filter.Status != "" && info.Status != filter.Status || filter.Topic != "" && info.Topic != filter.Topic {
			f.t.Fatalf("listed %+v with %+v", info, filter)
		}
	}
	return idsOf(got)
}

// D-70: those that are over latest first, the others in the order in which they
// fire; of one topic or of all.
func TestList(t *testing.T) { dbtest.Each(t, testList) }

func testList(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	of := func(topic string, minutes int) timer.ID {
		return f.put(timer.Timer{Topic: topic, Due: f.past().Add(time.Duration(minutes) * time.Minute)})
	}
	a, b, c := of("a", 3), of("b", 1), of("a", 2)
	f.same(f.listed(timer.ListOptions{}), b, c, a)
	f.same(f.listed(timer.ListOptions{Topic: "a"}), c, a)
	owner, _ := f.claim(3)
	f.same(f.listed(timer.ListOptions{Status: timer.Scheduled}))
	f.same(f.listed(timer.ListOptions{}), b, c, a)
	f.same(f.listed(timer.ListOptions{Status: timer.Claimed}), b, c, a)
	f.same(f.listed(timer.ListOptions{Status: timer.Claimed, Topic: "b"}), b)
	for _, id := range []timer.ID{c, a, b} {
		f.touched(1)(f.WorkQueue().Ack(f.ctx(), owner, id))
		f.pass(time.Millisecond)
	}
	f.same(f.listed(timer.ListOptions{Status: timer.Fired}), b, a, c)
	f.same(f.listed(timer.ListOptions{Status: timer.Fired, Topic: "a"}), a, c)
	d := of("a", 0)
	f.changed(true)(f.Cancel(f.ctx(), d))
	f.same(f.listed(timer.ListOptions{Status: timer.Cancelled}), d)
	f.same(f.listed(timer.ListOptions{Status: timer.Cancelled, Topic: "b"}))
	e1, g := of("a", 5), of("a", 4)
	f.same(f.listed(timer.ListOptions{}), g, e1, b, a, c, d) // scheduled, fired, cancelled
	for page := range 6 {
		f.pages(page+1, timer.ListOptions{}, []timer.ID{g, e1, b, a, c, d})
	}
}

// D-70: pages follow on one another, in both orders, where many share a time.
func TestListPages(t *testing.T) { dbtest.Each(t, testListPages) }

func testListPages(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	const n, page = 25, 4
	due, all := f.past(), make([]timer.Timer, n)
	for i := range all {
		all[i] = timer.Timer{Topic: fmt.Sprint("t", i%2), Due: due.Add(time.Duration(i/10) * time.Second)}
	}
	ids, err := f.ScheduleBatch(f.ctx(), all)
	f.check(err)
	f.pages(page, timer.ListOptions{}, ids)
	var odd []timer.ID
	for i := 1; i < n; i += 2 {
		odd = append(odd, ids[i])
	}
	f.pages(page, timer.ListOptions{Topic: "t1"}, odd)
	owner, _ := f.claim(n)
	f.pages(page, timer.ListOptions{Status: timer.Claimed}, ids)
	f.touched(n)(f.WorkQueue().Ack(f.ctx(), owner, ids...))
	over := f.listed(timer.ListOptions{Status: timer.Fired})
	if len(over) != n {
		t.Fatalf("%d are over", len(over))
	}
	f.pages(page, timer.ListOptions{Status: timer.Fired}, over)
}

// pages insists on the list page by page.
func (f *fixture) pages(page int, filter timer.ListOptions, want []timer.ID) {
	f.t.Helper()
	var got []timer.ID
	for {
		infos, err := engine.Collect(f.List(f.ctx(), filter), page)
		f.check(err)
		if len(infos) == 0 {
			f.same(got, want...)
			return
		}
		if got = append(got, idsOf(infos)...); len(got) > len(want) {
			f.t.Fatalf("paged through %d timers of %d", len(got), len(want))
		}
		filter.After = &infos[len(infos)-1]
	}
}

// D-25, D-70: what is over is forgotten after the retention period, what is not
// stays for ever, however long ago it was due.
func TestCleanUp(t *testing.T) { dbtest.Each(t, testCleanUp) }

func testCleanUp(t *testing.T, e dbtest.Engine) {
	const retention = 10 * time.Second // what is fresh stays so, also on a slow machine; both together end no claim
	f := open(t, e, timer.Options{Retention: retention})
	fired := f.inState(timer.Fired, f.due())
	cancelled := f.inState(timer.Cancelled, f.due())
	claimed := f.inState(timer.Claimed, f.due())
	scheduled := f.put(f.due())
	f.age(retention + short)
	fresh := f.put(f.due())
	f.changed(true)(f.Cancel(f.ctx(), fresh))
	f.touched(2)(f.CleanUp(f.ctx()))
	f.unknown(fired)
	f.unknown(cancelled)
	f.get(claimed, timer.Claimed)
	f.get(scheduled, timer.Scheduled)
	f.stored(3)
	f.message(fired) // it has a retention of its own
	many := f.putN(2100)
	f.fires(int64(len(many)) + 1)
	f.age(retention + short)
	f.touched(int64(len(many)) + 2)(f.CleanUp(f.ctx()))
	f.touched(0)(f.CleanUp(f.ctx()))
	f.stored(1)
}

// age makes it longer by d that what is over ended.
func (f *fixture) age(d time.Duration) {
	f.t.Helper()
	if f.db.Engine() == "sqlite" {
		f.pass(d)
		return
	}
	_, err := f.db.SQL.ExecContext(f.ctx(), fmt.Sprintf("UPDATE %s SET processed_at = %s WHERE status >= 2", f.db.Table("timer"), f.db.Earlier("processed_at", d)))
	f.check(err)
}

const seedColumns = "id, due_time, payload, topic, correlation_id, status_code, locked_until, owner_token, status, claimed_by, claimed_at, retry_count, created_at, processed_at, last_error"

// D-102: the seed's columns are there to be queried, all of them.
func TestViewColumns(t *testing.T) { dbtest.Each(t, testViewColumns) }

func testViewColumns(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	rows, err := f.db.SQL.QueryContext(f.ctx(), "SELECT "+seedColumns+" FROM "+f.db.Table("timers"))
	f.check(err)
	defer rows.Close()
	f.check(rows.Err())
}

// row is what the view shows of a timer.
type row struct {
	id, topic, status                                                                       string
	payload, correlation, locked, owner, claimedBy, claimedAt, due, created, processed, err sql.NullString
	code, retries                                                                           int
}

func (f *fixture) shown() map[string]row {
	f.t.Helper()
	columns := seedColumns
	if f.db.Engine() == "sqlserver" { // whose driver gives the bytes of a uniqueidentifier
		columns = strings.Replace(columns, "id", "LOWER(CONVERT(nvarchar(36), id))", 1)
	}
	rows, err := f.db.SQL.QueryContext(f.ctx(), "SELECT "+columns+" FROM "+f.db.Table("timers"))
	f.check(err)
	defer rows.Close()
	all := map[string]row{}
	for rows.Next() {
		var r row
		f.check(rows.Scan(&r.id, &r.due, &r.payload, &r.topic, &r.correlation, &r.code, &r.locked, &r.owner, &r.status, &r.claimedBy, &r.claimedAt,
			&r.retries, &r.created, &r.processed, &r.err))
		all[r.id] = r
	}
	f.check(rows.Err())
	return all
}

// D-102, D-70: the view shows each state in the seed's words.
func TestView(t *testing.T) { dbtest.Each(t, testView) }

func testView(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	words := map[timer.Status]string{timer.Scheduled: "Pending", timer.Claimed: "InProgress", timer.Fired: "Done", timer.Cancelled: "Cancelled"}
	ids := map[timer.Status]timer.ID{}
	for _, s := range states() {
		ids[s] = f.inState(s, timer.Timer{Topic: "t", Payload: []byte(`{"text":"ü"}`), CorrelationID: "c", Due: f.past()})
	}
	shown := f.shown()
	if len(shown) != len(ids) {
		t.Fatalf("%d rows", len(shown))
	}
	for s, id := range ids {
		r, claimed, over := shown[id.String()], s == timer.Claimed, s == timer.Fired || s == timer.Cancelled
		if r.code != slices.Index(op.TimerStatuses(), string(s)) || r.status != words[s] || r.topic != "t" || r.correlation.String != "c" || !r.due.Valid || !r.created.Valid || r.retries != 0 {
			t.Errorf("%v is shown as %+v", s, r)
		}
		if slices.Contains([]bool{r.locked.Valid, r.owner.Valid, r.claimedBy.Valid, r.claimedAt.Valid}, !claimed) || r.processed.Valid != over {
			t.Errorf("%v is shown as %+v", s, r)
		}
		if s != timer.Fired && r.payload.String != `{"text":"ü"}` {
			t.Errorf("%v is shown with payload %q", s, r.payload.String)
		}
	}
}
