package outbox_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// D-212: what cannot be meant is refused before anything is written.
func TestUniqueIsChecked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		long := make([]byte, 256)
		for i := range long {
			long[i] = 'x'
		}
		for what, m := range map[string]outbox.Message{
			"options without a key": {Topic: "t", Unique: &outbox.UniqueOptions{}},
			"blank":                 {Topic: "t", UniqueKey: " "},
			"too long":              {Topic: "t", UniqueKey: string(long)},
			"with an id":            {Topic: "t", UniqueKey: "k", ID: outbox.MessageID{1}},
			"negative period":       {Topic: "t", UniqueKey: "k", Unique: &outbox.UniqueOptions{Period: -1}},
			"too short a period":    {Topic: "t", UniqueKey: "k", Unique: &outbox.UniqueOptions{Period: 999}},
			"unknown scope":         {Topic: "t", UniqueKey: "k", Unique: &outbox.UniqueOptions{Scope: 2}},
		} {
			t.Log(what)
			f.refused("unique key")(f.Enqueue(f.ctx(), m))
			if err := m.Validate(); !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("Validate: %v", err)
			}
		}
		tx := f.begin()
		defer tx.Rollback()
		_, err := f.EnqueueTx(f.ctx(), onlyExec{tx}, keyed("1", outbox.UniqueOptions{}))
		f.refused("transaction")(nil, err)
		f.keys(0)
	})
}

// onlyExec is a transaction that cannot query.
type onlyExec struct{ tx engine.Tx }

func (o onlyExec) CheckTx() error { return nil }

func (o onlyExec) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return o.tx.ExecContext(ctx, query, args...)
}

// D-212: messages without keys write and read nothing of keys, and observers count no duplicates.
func TestUniqueCostsOthersNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e)
		names := &namingDB{DB: f.db.DB}
		f.Outbox = parts.NewOutbox(names, worker.Options{})
		if _, err := f.EnqueueBatch(f.ctx(), []outbox.Message{{Topic: "t"}, {Topic: "t"}}); err != nil {
			t.Fatal(err)
		}
		f.keys(0)
		if fmt.Sprint(names.all) != "[outbox/enqueue]" {
			t.Errorf("ran %v", names.all)
		}
	})
}

// namingDB records which operations run.
type namingDB struct {
	engine.DB
	all []string
}

func (db *namingDB) Do(ctx context.Context, calls ...*engine.Call) error {
	for _, c := range calls {
		db.all = append(db.all, c.Name())
	}
	return db.DB.Do(ctx, calls...)
}

// D-212, D-213: for programs in other languages.
func TestUniqueInSQL(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		if e.Name == "sqlite" {
			t.Skip("it has no routines")
		}
		f := open(t, e)
		enqueue := func(more string, wantDuplicate bool) (id string) {
			t.Helper()
			var duplicate bool
			call := fmt.Sprintf(`SELECT message_id, duplicate FROM %soutbox_enqueue_unique('t', 'x'::text, 'k'%s)`, f.db.Table(""), more)
			if e.Name == "sqlserver" {
				call = fmt.Sprintf(`DECLARE @id uniqueidentifier, @duplicate bit; EXEC %soutbox_enqueue_unique @topic = N't', @payload = N'x', @unique_key = N'k'%s,
					@message_id = @id OUTPUT, @duplicate = @duplicate OUTPUT; SELECT LOWER(CAST(@id AS nvarchar(36))), @duplicate`, f.db.Table(""), more)
			}
			if err := f.db.SQL.QueryRowContext(f.ctx(), call).Scan(&id, &duplicate); err != nil {
				t.Fatal(err)
			}
			if duplicate != wantDuplicate {
				t.Fatalf("%s: duplicate is %t", more, duplicate)
			}
			return id
		}
		named := func(name, value string) string {
			if e.Name == "sqlserver" {
				return ", @" + name + " = " + value
			}
			return ", " + name + " => " + value
		}
		yes := f.db.Bool(true)
		first := enqueue("", false)
		f.same(f.put(keyed("x", outbox.UniqueOptions{}), true), mustParse(t, first), "of SQL")
		if again := enqueue(named("scope", "'not_begun'"), true); again != first {
			t.Errorf("the id is %s, want %s", again, first)
		}
		enqueue(named("debounce", yes)+named("due_time_utc", "'2100-01-01'"), true)
		if at := f.find(mustParse(t, first)).NextAttemptAt; at.Year() < 2099 {
			t.Errorf("due at %v", at)
		}
		second := enqueue(named("replace", yes), false)
		if at := f.find(mustParse(t, second)).NextAttemptAt; at.Year() < 2099 {
			t.Errorf("due at %v", at)
		}
		third := enqueue(named("replace", yes)+named("debounce", yes), false)
		owner, msgs := f.claimExactly(1)
		f.same(msgs[0].ID, mustParse(t, third), "claimed")
		enqueue(named("replace", yes), true)
		f.touched(1)(f.WorkQueue("").Ack(f.ctx(), owner, msgs[0].Position))
		enqueue(named("period_seconds", "60"), true)
		enqueue("", false)
		f.counts(outbox.Counts{Ready: 1, Done: 1, Discarded: 2})
	})
}

func mustParse(t *testing.T, id string) outbox.MessageID {
	t.Helper()
	parsed, err := outbox.ParseMessageID(id)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// D-212: observers are told of what is stored, and a message with a key is handled by a worker of
// its own process as others are.
func TestUniqueIsObserved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, e dbtest.Engine) {
		f := open(t, e, worker.Options{StopWhenEmpty: true})
		enqueued, handled := 0, 0
		f.Component().Observe(&worker.Observer{Enqueued: func(_, _ string, n int) { enqueued += n }})
		f.Handle("t", func(context.Context, *outbox.Message) error { handled++; return nil })
		f.put(keyed("1", outbox.UniqueOptions{}), false)
		f.put(keyed("1", outbox.UniqueOptions{}), true)
		if err := f.Run(f.ctx()); err != nil {
			t.Fatal(err)
		}
		if enqueued != 1 || handled != 1 {
			t.Errorf("%d enqueued, %d handled", enqueued, handled)
		}
	})
}
