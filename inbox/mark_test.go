package inbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// D-51, D-52
func TestMarks(t *testing.T) { dbtest.Each(t, testMarks) }

func testMarks(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for n := range int64(3) {
		if done, err := f.AlreadyProcessed(f.ctx(), key("a")); done || err != nil {
			t.Fatal(done, err)
		}
		f.state(key("a"), inbox.Seen, n+1, 0)
	}
	f.marked(true)(f.MarkProcessing(f.ctx(), key("a")))
	f.state(key("a"), inbox.Processing, 3, 1)
	f.marked(true)(f.MarkProcessed(f.ctx(), key("a")))
	if got := f.state(key("a"), inbox.Done, 3, 1); got.ProcessedAt.IsZero() {
		t.Fatalf("the message is %+v", got)
	}
	if done, err := f.AlreadyProcessed(f.ctx(), key("a")); !done || err != nil {
		t.Fatal(done, err)
	}
	f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	f.effects(0)
}

func (f *fixture) marked(want bool) func(bool, error) {
	return func(got bool, err error) {
		f.t.Helper()
		if got != want || err != nil {
			f.t.Fatalf("marked: %v, %v, want %v", got, err, want)
		}
	}
}

// D-55
func TestMarkUnknown(t *testing.T) { dbtest.Each(t, testMarkUnknown) }

func testMarkUnknown(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.marked(false)(f.MarkProcessing(f.ctx(), key("a")))
	f.marked(false)(f.MarkProcessed(f.ctx(), key("a")))
	f.marked(false)(f.MarkDead(f.ctx(), key("a")))
	f.marked(false)(f.Revive(f.ctx(), key("a")))
	_, err := f.Get(f.ctx(), key("a"))
	f.is(err, inbox.ErrNotFound)
}

// D-52
func TestMarksAreFinal(t *testing.T) { dbtest.Each(t, testMarksAreFinal) }

func testMarksAreFinal(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, id := range []string{"a", "b"} {
		_, err := f.AlreadyProcessed(f.ctx(), key(id))
		f.check(err)
	}
	f.marked(true)(f.MarkProcessed(f.ctx(), key("a")))
	f.marked(true)(f.MarkDead(f.ctx(), key("b")))
	for _, id := range []string{"a", "b"} {
		f.marked(false)(f.MarkProcessing(f.ctx(), key(id)))
		f.marked(false)(f.MarkProcessed(f.ctx(), key(id)))
		f.marked(false)(f.MarkDead(f.ctx(), key(id)))
	}
	_, err := f.AlreadyProcessed(f.ctx(), key("b"))
	f.is(err, inbox.ErrDead)
	f.marked(true)(f.Revive(f.ctx(), key("b")))
	f.marked(true)(f.MarkProcessed(f.ctx(), key("b")))
}

// D-3
func TestMarkInTransaction(t *testing.T) { dbtest.Each(t, testMarkInTransaction) }

func testMarkInTransaction(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, commit := range []bool{false, true} {
		tx := f.db.Begin(t)
		done, err := f.AlreadyProcessedTx(f.ctx(), tx, key("a"))
		f.marked(false)(done, err)
		f.check(f.effect(f.ctx(), tx, "a"))
		f.marked(true)(f.MarkProcessedTx(f.ctx(), tx, key("a")))
		if commit {
			f.check(tx.Commit())
		} else {
			f.check(tx.Rollback())
		}
	}
	f.effects(1)
	f.state(key("a"), inbox.Done, 1, 0)
	_, err := f.AlreadyProcessedTx(f.ctx(), nil, key("a"))
	f.is(err, engine.ErrInvalid)
	_, err = f.MarkProcessedTx(f.ctx(), nil, key("a"))
	f.is(err, engine.ErrInvalid)
}

// D-50
func TestList(t *testing.T) { dbtest.Each(t, testList) }

func testList(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, k := range []inbox.Key{{Source: "b", MessageID: "1"}, {Source: "a", MessageID: "2"}, {Source: "a", MessageID: "1"}} {
		_, err := f.AlreadyProcessed(f.ctx(), k)
		f.check(err)
	}
	f.marked(true)(f.MarkDead(f.ctx(), inbox.Key{Source: "a", MessageID: "2"}))
	for want, filter := range map[string]inbox.ListOptions{
		"a/1 a/2 b/1 ": {},
		"a/1 a/2 ":     {Source: "a"},
		"a/2 ":         {Status: inbox.Dead},
		"a/1 b/1 ":     {Status: inbox.Seen},
		"b/1 ":         {After: &inbox.Info{Key: inbox.Key{Source: "a", MessageID: "2"}}},
		"":             {Idle: time.Hour},
	} {
		list, err := engine.Collect(f.List(f.ctx(), filter), 100)
		f.check(err)
		got := ""
		for _, m := range list {
			got += m.Key.String() + " "
		}
		if got != want {
			t.Errorf("%+v lists %q, want %q", filter, got, want)
		}
	}
}

func TestListOfNoStatus(t *testing.T) { dbtest.Each(t, testListOfNoStatus) }

func testListOfNoStatus(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	_, err := engine.Collect(f.List(f.ctx(), inbox.ListOptions{Status: "dead"}), 100)
	f.is(err, engine.ErrInvalid)
}

// D-55
func TestStuck(t *testing.T) { dbtest.Each(t, testStuck) }

func testStuck(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	for _, id := range []string{"stuck", "fresh", "seen"} {
		_, err := f.AlreadyProcessed(f.ctx(), key(id))
		f.check(err)
	}
	f.marked(true)(f.MarkProcessing(f.ctx(), key("stuck")))
	f.age()
	f.marked(true)(f.MarkProcessing(f.ctx(), key("fresh")))
	stuck, err := engine.Collect(f.List(f.ctx(), inbox.ListOptions{Status: inbox.Processing, Idle: limits.InboxStuck}), 100)
	f.check(err)
	if len(stuck) != 1 || stuck[0].MessageID != "stuck" {
		t.Fatalf("stuck are %v", stuck)
	}
	for want, filter := range map[string]inbox.ListOptions{
		"seen":        {Status: inbox.Seen, Idle: time.Hour},
		"stuck":       {Source: "billing", Status: inbox.Processing, Idle: time.Hour},
		"fresh stuck": {Source: "billing", Status: inbox.Processing, After: &inbox.Info{Key: inbox.Key{Source: "billing", MessageID: "a"}}},
	} {
		list, err := engine.Collect(f.List(f.ctx(), filter), 100)
		f.check(err)
		got := ""
		for _, m := range list {
			got += " " + m.MessageID
		}
		if strings.TrimPrefix(got, " ") != want {
			t.Errorf("%+v lists %q, want %q", filter, got, want)
		}
	}
}

// age makes everything look a month older.
func (f *fixture) age() {
	f.t.Helper()
	const month = 31 * 24 * time.Hour
	query := "UPDATE " + f.db.Table("inbox") + " SET last_seen_utc = " + f.db.Earlier("last_seen_utc", month) + ", processed_utc = " + f.db.Earlier("processed_utc", month)
	if _, err := f.db.SQL.ExecContext(f.ctx(), query); err != nil {
		f.t.Fatal(err)
	}
}

// D-55: done ones only, and a delivery that comes meanwhile is either known or new.
func TestCleanUp(t *testing.T) { dbtest.Each(t, testCleanUp) }

func testCleanUp(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.check(f.Once(f.ctx(), key("old"), f.write("old")))
	f.is(f.Once(f.ctx(), key("failed"), func(context.Context, engine.Tx) error { return errDown }), errDown)
	_, err := f.AlreadyProcessed(f.ctx(), key("dead"))
	f.check(err)
	f.marked(true)(f.MarkDead(f.ctx(), key("dead")))
	f.age()
	f.check(f.Once(f.ctx(), key("new"), f.write("new")))
	if n, err := f.CleanUp(f.ctx()); n != 1 || err != nil {
		t.Fatalf("cleaned up %d: %v", n, err)
	}
	_, err = f.Get(f.ctx(), key("old"))
	f.is(err, inbox.ErrNotFound)
	f.state(key("failed"), inbox.Seen, 1, 1)
	f.state(key("dead"), inbox.Dead, 1, 0)
	f.state(key("new"), inbox.Done, 1, 1)

	f.age() // clean-up while the message comes again
	again := make(chan error, 1)
	go func() {
		var err error
		for range 50 {
			err = errors.Join(err, ignoreBusy(f.Once(f.ctx(), key("new"), func(context.Context, engine.Tx) error { return nil })))
		}
		again <- err
	}()
	for range 20 {
		_, err := f.CleanUp(f.ctx())
		f.check(err)
	}
	f.check(<-again)
	// Had it come for the last time before the first clean-up, it would be forgotten.
	f.check(f.Once(f.ctx(), key("new"), func(context.Context, engine.Tx) error { return nil }))
	if got, err := f.Get(f.ctx(), key("new")); err != nil || got.Status != inbox.Done {
		t.Fatalf("%+v, %v", got, err)
	}
}

func ignoreBusy(err error) error {
	if errors.Is(err, inbox.ErrInProgress) {
		return nil
	}
	return err
}

// D-102
func TestViewColumns(t *testing.T) { dbtest.Each(t, testViewColumns) }

func testViewColumns(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	f.check(f.Once(f.ctx(), key("a"), f.write("a")))
	var source, id, status string
	var attempts int
	var hash, first, last, processed any
	f.db.Row(t, "SELECT message_id, source, hash, first_seen_utc, last_seen_utc, processed_utc, attempts, status FROM "+f.db.Table("inbox_messages"),
		&id, &source, &hash, &first, &last, &processed, &attempts, &status)
	if id != "a" || source != "billing" || attempts != 1 || status != "Done" || first == nil || last == nil || processed == nil {
		t.Fatalf("%s %s %d %s", id, source, attempts, status)
	}
}
