package move_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/move"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// eachPair runs a test for every two engines that a store can be moved between.
func eachPair(t *testing.T, test func(t *testing.T, old, new dbtest.Database)) {
	for _, from := range dbtest.Engines() {
		for _, to := range dbtest.Engines() {
			t.Run(from.Name+"-"+to.Name, func(t *testing.T) {
				t.Parallel()
				test(t, from.Open(t), to.Open(t))
			})
		}
	}
}

func sideOf(d dbtest.Database, name string) move.Side {
	return move.Side{DB: d.DB, Place: move.Place{Where: name}}
}

func quiet() move.Options { return move.Options{Logger: slog.New(slog.DiscardHandler)} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, d dbtest.Database) *pawl.Pawl {
	t.Helper()
	p, err := pawl.New(d.DB, pawl.Options{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return p
}

// store is a store with something in every table.
type store struct {
	p       *pawl.Pawl
	known   outbox.MessageID // made by pawl, done
	given   outbox.MessageID // given by the program, done
	wait    outbox.MessageID
	join    join.ID
	steps   []outbox.MessageID
	held    *lease.Lease
	past    int64 // token of a lease that was given up
	claimed outbox.OwnerToken
}

// fillFlow stores a parked flow with a step, a signal and a result, and a message that is to be stopped.
func fillFlow(t testing.TB, d dbtest.Database, p *pawl.Pawl) {
	t.Helper()
	ctx := t.Context()
	id, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "flow.parked", Queue: "flows"})
	must(t, err)
	owner := outbox.NewOwnerToken()
	msgs, err := p.Outbox.WorkQueue("flows").Claim(ctx, owner, time.Minute, 1)
	must(t, err)
	at, day := int64(msgs[0].Position), 24*time.Hour
	step := op.FlowStep{Owner: owner, ID: at, Name: "a", Nr: 1, Result: []byte{0, 1, 255}}
	must(t, d.DB.Do(ctx, engine.Ask(op.FlowKeep{Steps: []op.FlowStep{step}}), engine.Ask(op.JoinResults{Results: []op.JoinResult{{Owner: owner, ID: at, Result: []byte("r")}}}),
		engine.Ask(op.FlowPark{Parks: []op.FlowParked{{Owner: owner, ID: at, Name: "s", Delay: &day}}}), engine.Ask(op.FlowPutSignal{MessageID: id, Name: "other", Payload: []byte("{}")})))
	_, err = p.Outbox.Enqueue(ctx, outbox.Message{Topic: "long", Queue: "flows"})
	must(t, err)
	msgs, err = p.Outbox.WorkQueue("flows").Claim(ctx, owner, time.Minute, 1)
	must(t, err)
	_, err = p.Outbox.CancelRunning(ctx, "too long", msgs[0].Position)
	must(t, err)
}

// fill puts something into every table.
func fill(t testing.TB, d dbtest.Database) *store {
	t.Helper()
	ctx := t.Context()
	p := open(t, d)
	s := &store{p: p, claimed: outbox.NewOwnerToken()}
	enqueue := func(m outbox.Message) outbox.MessageID {
		id, err := p.Outbox.Enqueue(ctx, m)
		must(t, err)
		return id
	}
	// Done, failed and retried ones come first, so that claims find them alone.
	s.known = enqueue(outbox.Message{Topic: "done", Payload: []byte("äöü \x00")})
	s.given = outbox.MessageID(uuid.New())
	enqueue(outbox.Message{ID: s.given, Topic: "done", Headers: map[string]string{"a": "b"}, CorrelationID: "c"})
	settle := func(n int, do func(owner outbox.OwnerToken, ids []outbox.Position)) {
		owner := outbox.NewOwnerToken()
		msgs, err := p.Outbox.WorkQueue("").Claim(ctx, owner, time.Minute, n)
		must(t, err)
		if len(msgs) != n {
			t.Fatalf("claimed %d, want %d", len(msgs), n)
		}
		var ids []outbox.Position
		for _, m := range msgs {
			ids = append(ids, m.Position)
		}
		do(owner, ids)
	}
	settle(2, func(owner outbox.OwnerToken, ids []outbox.Position) {
		_, err := p.Outbox.WorkQueue("").Ack(ctx, owner, ids...)
		must(t, err)
	})
	enqueue(outbox.Message{Topic: "failed"})
	settle(1, func(owner outbox.OwnerToken, ids []outbox.Position) {
		_, err := p.Outbox.WorkQueue("").Fail(ctx, owner, errors.New("no"), ids...)
		must(t, err)
	})
	enqueue(outbox.Message{Topic: "retried"})
	settle(1, func(owner outbox.OwnerToken, ids []outbox.Position) {
		_, err := p.Outbox.WorkQueue("").Abandon(ctx, owner, outbox.RetryAfter(time.Hour, errors.New("not yet")), ids...)
		must(t, err)
	})
	enqueue(outbox.Message{Topic: "claimed"})
	msgs, err := p.Outbox.WorkQueue("").Claim(ctx, s.claimed, time.Hour, 1)
	must(t, err)
	if len(msgs) != 1 {
		t.Fatal("nothing claimed")
	}
	for i := range 3 {
		enqueue(outbox.Message{Topic: "line", OrderingKey: "k", Payload: fmt.Append(nil, i)})
	}
	enqueue(outbox.Message{Topic: "later", Due: time.Now().Add(time.Hour), Priority: 5, Queue: "other", Expires: time.Now().Add(24 * time.Hour)})
	enqueue(outbox.Message{Topic: "one", UniqueKey: "u", Unique: &outbox.UniqueOptions{Period: time.Hour}})

	fillFlow(t, d, p)
	s.join, err = p.Joins.Start(ctx, join.Spec{ExpectedSteps: 2, GroupingKey: "g", Metadata: "{}", Deadline: time.Now().Add(time.Hour)})
	must(t, err)
	for range 2 {
		id := enqueue(outbox.Message{Topic: "step", Queue: "steps"})
		s.steps = append(s.steps, id)
	}
	must(t, p.Joins.Attach(ctx, s.join, s.steps...))
	_, err = p.Joins.ReportCompleted(ctx, s.join, s.steps[0])
	must(t, err)
	s.wait, err = p.Joins.Wait(ctx, s.join, join.Wait{OnComplete: outbox.Message{Topic: "joined"}})
	must(t, err)

	_, err = p.Timers.Schedule(ctx, timer.Timer{Topic: "later", Due: time.Now().Add(time.Hour), Key: "reminder", Payload: []byte("t")})
	must(t, err)
	id, err := p.Timers.Schedule(ctx, timer.Timer{Topic: "never", Due: time.Now().Add(time.Hour)})
	must(t, err)
	_, err = p.Timers.Cancel(ctx, id)
	must(t, err)
	must(t, p.Jobs.Put(ctx, job.Job{Name: "nightly", Schedule: "0 3 * * *", Zone: "Europe/Berlin", Topic: "job", Spread: time.Minute}))
	_, err = p.Jobs.Sync(ctx, "shop", nil, job.SyncOptions{Version: "v1"}) // whose version is known
	must(t, err)
	_, err = p.Jobs.Trigger(ctx, "nightly")
	must(t, err)

	must(t, p.Inbox.Once(ctx, inbox.Key{Source: "s", MessageID: "1", Hash: []byte{1}}, func(context.Context, outbox.Tx) error { return nil }))
	_, err = p.Inbox.Enqueue(ctx, inbox.Message{Key: inbox.Key{Source: "s", MessageID: "2"}, Topic: "in"})
	must(t, err)
	_, err = p.Inbox.MarkProcessing(ctx, inbox.Key{Source: "s", MessageID: "3"})
	must(t, err)

	s.held, err = p.Leases.Acquire(ctx, "held", lease.Options{Duration: time.Hour})
	must(t, err)
	past, err := p.Leases.Acquire(ctx, "past", lease.Options{})
	must(t, err)
	s.past = past.Token()
	must(t, past.Close(ctx))

	settle(1, func(owner outbox.OwnerToken, ids []outbox.Position) { // puts those with a key in order
		_, err := p.Outbox.Release(ctx, owner, ids...)
		must(t, err)
	})
	_, err = p.Admin.Pause(ctx, admin.Topic, "paused", "why")
	must(t, err)
	_, err = p.Outbox.Redrive(ctx, outbox.FailedFilter{Topic: "nothing that failed", Rate: 7}) // D-411
	must(t, err)
	_, err = p.Admin.SetLimit(ctx, admin.Topic, "line", outbox.Limit{Concurrency: 3, Rate: 5, Period: time.Minute}, "because")
	must(t, err)
	return s
}

// rows reads a whole table.
func rows(t testing.TB, d dbtest.Database, table engine.Table) [][]any {
	t.Helper()
	m, ok := engine.As[engine.Movable](d.DB)
	if !ok {
		t.Fatalf("%T cannot be moved", d.DB)
	}
	all, err := m.TableRows(t.Context(), &table, nil, 100_000)
	must(t, err)
	copied, pick := table.Copied()
	for i, row := range all {
		row = pick(row)
		for k, c := range copied.Columns {
			switch v := row[k].(type) {
			case time.Time:
				row[k] = v.UTC().Truncate(time.Microsecond).String()
				if c.Kind == engine.Until { // of another clock
					row[k] = v.UTC().Truncate(time.Minute).String()
				}
				if v.IsZero() || v.UnixMicro() == 0 {
					row[k] = "before all others"
				}
			case []byte:
				row[k] = string(v)
			}
		}
		all[i] = row
	}
	return all
}

func tables(t testing.TB, d dbtest.Database) map[string][][]any {
	t.Helper()
	all := map[string][][]any{}
	for _, table := range engine.Tables() {
		all[table.Name] = rows(t, d, table)
	}
	return all
}

// D-256: every row of a store is in the new database, as it was; what follows goes on as if it
// had never moved.
func TestAllOfAStoreMoves(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		s := fill(t, old)
		want := tables(t, old)
		for name, rows := range want {
			if len(rows) == 0 && !strings.HasSuffix(name, "limit_claim") && name != "outbox_join_result" {
				t.Errorf("nothing in %s: the test shows nothing of it", name)
			}
		}
		o := quiet()
		o.Drain = -1
		report, err := move.Run(ctx, sideOf(old, "old"), sideOf(new, "new"), o)
		must(t, err)
		have := tables(t, new)
		for name := range want {
			if len(have[name])+len(want[name]) > 0 && !reflect.DeepEqual(have[name], want[name]) {
				t.Errorf("%s:\n%v\nwant\n%v", name, have[name], want[name])
			}
		}
		if report.Rows["timer"] != int64(len(want["timer"])) || report.Closed <= 0 {
			t.Errorf("report %+v", report)
		}
		s.goOn(t, new)
	})
}

// goOn checks that what was promised in the old database holds in the new one.
func (s *store) goOn(t *testing.T, new dbtest.Database) {
	t.Helper()
	ctx := t.Context()
	p := open(t, new)
	before, err := p.Outbox.Count(ctx)
	must(t, err)
	for _, id := range []outbox.MessageID{s.known, s.given} {
		_, err := p.Outbox.Enqueue(ctx, outbox.Message{ID: id, Topic: "done"})
		must(t, err)
	}
	first, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "one", UniqueKey: "u", Unique: &outbox.UniqueOptions{Period: time.Hour}})
	must(t, err)
	found, err := p.Outbox.Get(ctx, first)
	must(t, err)
	after, err := p.Outbox.Count(ctx)
	must(t, err)
	if after != before {
		t.Errorf("a message that was known was added: %+v, before %+v", after, before)
	}
	if found == nil || found.Topic != "one" {
		t.Errorf("the unique key leads to %+v", found)
	}
	// A position that was used is not used again.
	highest := int64(0)
	for _, row := range rows(t, new, engine.Tables()[1]) {
		highest = max(highest, row[0].(int64))
	}
	id, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "line", OrderingKey: "k", Payload: []byte("3")})
	must(t, err)
	info, err := p.Outbox.Get(ctx, id)
	must(t, err)
	if int64(info.Position) <= highest {
		t.Errorf("position %d of a new message with a key, after %d", info.Position, highest)
	}
	// The last step ends the join, once.
	_, err = p.Joins.ReportCompleted(ctx, s.join, s.steps[1])
	must(t, err)
	if j, err := p.Joins.Get(ctx, s.join); err != nil || j.Status != join.Completed || j.CompletedSteps != 2 {
		t.Errorf("join %+v, %v", j, err)
	}
	// Tokens grow, and a lease that is held is held.
	if _, err := p.Leases.Acquire(ctx, "held", lease.Options{}); err == nil {
		t.Error("a lease that is held was given again")
	}
	l, err := p.Leases.Acquire(ctx, "past", lease.Options{})
	must(t, err)
	if l.Token() <= s.past {
		t.Errorf("token %d after %d", l.Token(), s.past)
	}
	must(t, l.Close(ctx))
	if done, err := p.Inbox.AlreadyProcessed(ctx, inbox.Key{Source: "s", MessageID: "1"}); err != nil || !done {
		t.Errorf("processed %v, %v", done, err)
	}
	j, err := p.Jobs.Get(ctx, "nightly")
	must(t, err)
	if j.NextRunAt.IsZero() {
		t.Error("the job has no next time")
	}
	// What was claimed is not handed out while the lease lasts.
	msgs, err := p.Outbox.WorkQueue("").Claim(ctx, outbox.NewOwnerToken(), time.Minute, 100)
	must(t, err)
	line := ""
	for _, m := range msgs {
		if m.Topic == "claimed" {
			t.Error("a claimed message was handed out")
		}
		if m.Topic == "line" {
			line += string(m.Payload)
		}
	}
	if line != "0" {
		t.Errorf("of a key %q was claimed, want the first alone", line)
	}
	if n, err := p.Outbox.WorkQueue("").Ack(ctx, s.claimed, positions(t, new, "claimed")...); err != nil || n != 1 {
		t.Errorf("the owner of the old claim acked %d, %v", n, err)
	}
	new.CheckPlaces(t)
}

func positions(t testing.TB, d dbtest.Database, topic string) (all []outbox.Position) {
	t.Helper()
	page, err := engine.Collect(open(t, d).Outbox.List(t.Context(), outbox.ListOptions{Topic: topic}), 100)
	must(t, err)
	for _, i := range page {
		all = append(all, i.Position)
	}
	return all
}

// ahead is a database whose clock is ahead.
type ahead struct {
	engine.DB
	engine.Movable
	by time.Duration
}

func (a *ahead) Read(ctx context.Context, call *engine.Call) error {
	if _, ok := call.Operation.(op.ClockNow); !ok {
		return a.DB.Read(ctx, call)
	}
	c, _, err := engine.Get(ctx, a.DB, op.ClockNow{})
	if err != nil {
		return err
	}
	return call.Each(clockRow(c.Now.Add(a.by)))
}

type clockRow time.Time

func (c clockRow) Scan(dest ...any) error {
	*dest[0].(*time.Time) = time.Time(c)
	return nil
}

// D-256: a lease lasts as long as its holder believes, also where clocks differ.
func TestLeasesLastAsLongAsBefore(t *testing.T) {
	t.Parallel()
	old, new := dbtest.OpenSQLite(t), dbtest.OpenSQLite(t)
	_, err := open(t, old).Leases.Acquire(t.Context(), "l", lease.Options{Duration: time.Hour})
	must(t, err)
	m, _ := engine.As[engine.Movable](new.DB)
	to := sideOf(new, "new")
	to.DB = &ahead{new.DB, m, 24 * time.Hour}
	_, err = move.Run(t.Context(), sideOf(old, "old"), to, quiet())
	must(t, err)
	info, err := open(t, new).Leases.Get(t.Context(), "l")
	must(t, err)
	if left := time.Until(info.Until); left < 24*time.Hour || left > 26*time.Hour {
		t.Errorf("the lease lasts for %v by a clock that is a day ahead, want a day and an hour", left)
	}
}

// D-256: positions go on above all that the old database gave to anybody, also where nothing is left
// of those.
func TestPositionsGoOn(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		const far = 1 << 40
		_, err := engine.Exec(ctx, old.DB, nil, op.MoveAhead{Low: far, High: 1<<47 + far})
		must(t, err)
		_, err = open(t, old).Outbox.Enqueue(ctx, outbox.Message{Topic: "x"})
		must(t, err)
		before, _, err := engine.Get(ctx, old.DB, op.MoveReach{})
		must(t, err)
		for _, table := range []string{"outbox_message", "outbox_ready"} {
			_, err := old.SQL.ExecContext(ctx, "DELETE FROM "+old.Table(table))
			must(t, err)
		}
		_, err = move.Run(ctx, sideOf(old, "old"), sideOf(new, "new"), quiet())
		must(t, err)
		p := open(t, new)
		for _, m := range []outbox.Message{{Topic: "x"}, {Topic: "x", OrderingKey: "k"}} {
			id, err := p.Outbox.Enqueue(ctx, m)
			must(t, err)
			info, err := p.Outbox.Get(ctx, id)
			must(t, err)
			above := before.Low
			if int64(info.Position) >= 1<<47 {
				above = before.High
			}
			if int64(info.Position) <= above {
				t.Errorf("position %d of a new message, the old database gave up to %d", info.Position, above)
			}
		}
	})
}
