package move_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/move"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// failing is a database that fails at one write of a move, as for a process that is killed
// there: before the transaction, or after it was committed.
type failing struct {
	engine.DB
	engine.Movable
	writes *int
	at     int
	after  bool
}

var errKilled = errors.New("killed")

func failingAt(d dbtest.Database, writes *int, at int, after bool) *failing {
	m, _ := engine.As[engine.Movable](d.DB)
	return &failing{DB: d.DB, Movable: m, writes: writes, at: at, after: after}
}

func (f *failing) write(do func() error) error {
	*f.writes++
	if *f.writes == f.at && !f.after {
		return errKilled
	}
	err := do()
	if *f.writes == f.at && err == nil {
		return errKilled
	}
	return err
}

func (f *failing) Do(ctx context.Context, calls ...*engine.Call) error {
	return f.write(func() error { return f.DB.Do(ctx, calls...) })
}

func (f *failing) InMove(ctx context.Context, id [16]byte, fn func(ctx context.Context, tx engine.Tx) error) error {
	return f.write(func() error { return f.Movable.InMove(ctx, id, fn) })
}

func (f *failing) PutFence(ctx context.Context, fence engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	return f.write(func() error { return f.Movable.PutFence(ctx, fence, tables, fn) })
}

func (f *failing) RemoveFence(ctx context.Context, fence engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx engine.Tx) error) error {
	return f.write(func() error { return f.Movable.RemoveFence(ctx, fence, tables, fn) })
}

// D-259: a move that ended at any of its writes, before or after the commit, goes on where it
// was, and the result is the same.
func TestResume(t *testing.T) {
	t.Parallel()
	pairs := map[string][2]dbtest.Engine{}
	lite := dbtest.Engines()[0]
	for _, e := range dbtest.Engines() {
		pairs[e.Name+"-"+lite.Name], pairs[lite.Name+"-"+e.Name] = [2]dbtest.Engine{e, lite}, [2]dbtest.Engine{lite, e}
	}
	for name, pair := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := 3 // each takes a third of a second, on a server a second
			if name != "sqlite-sqlite" {
				step = 9
			}
			for at := 1; ; at += step {
				if writes := resumeAt(t, pair[0].Open(t), pair[1].Open(t), at, at/step%2 == 0); writes < at {
					if at < 20 {
						t.Errorf("a move has %d writes: the test shows little", writes)
					}
					return
				}
			}
		})
	}
}

// resumeAt moves a store with a failure at one write, and returns how many there were before the
// failure.
func resumeAt(t *testing.T, old, new dbtest.Database, at int, after bool) int {
	t.Helper()
	ctx := t.Context()
	s := fill(t, old)
	want := tables(t, old)
	o := quiet()
	o.Drain, o.Batch = -1, 1
	writes := 0
	from, to := sideOf(old, "old"), sideOf(new, "new")
	from.DB, to.DB = failingAt(old, &writes, at, after), failingAt(new, &writes, at, after)
	_, err := move.Run(ctx, from, to, o)
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatalf("write %d: %v", at, err)
	}
	reached := writes
	if errors.Is(err, errKilled) {
		if _, err := move.Run(ctx, sideOf(old, "old"), sideOf(new, "new"), o); err != nil {
			t.Fatalf("after a failure at write %d: %v", at, err)
		}
	}
	for name, have := range tables(t, new) {
		if len(have)+len(want[name]) > 0 && !reflect.DeepEqual(have, want[name]) {
			t.Errorf("after a failure at write %d, %s:\n%v\nwant\n%v", at, name, have, want[name])
		}
	}
	if _, err := s.p.Outbox.Enqueue(ctx, outbox.Message{Topic: "x"}); !errors.Is(err, engine.ErrMoved) {
		t.Errorf("after a failure at write %d the old database takes messages: %v", at, err)
	}
	if _, err := open(t, new).Outbox.Enqueue(ctx, outbox.Message{Topic: "x"}); err != nil {
		t.Errorf("after a failure at write %d: %v", at, err)
	}
	return reached
}

// D-259: messages that are committed, and deleted, while others are copied move as they are at
// the end.
func TestMessagesOfMeanwhile(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		p := open(t, old)
		enqueue := func(topic string, n int) {
			msgs := make([]outbox.Message, n)
			for i := range msgs {
				msgs[i] = outbox.Message{Topic: topic, Payload: []byte(strings.Repeat("x", i%100))}
			}
			_, err := p.Outbox.EnqueueBatch(ctx, msgs)
			must(t, err)
		}
		enqueue("early", 300)
		writes := 0
		killed := failingAt(old, &writes, 0, false)
		from := sideOf(old, "old")
		from.DB = &interrupted{failing: killed, then: func() {
			enqueue("late", 300)
			owner := outbox.NewOwnerToken()
			msgs, err := p.Outbox.WorkQueue("").Claim(ctx, owner, time.Minute, 100)
			must(t, err)
			var ids []outbox.Position
			for _, m := range msgs {
				ids = append(ids, m.Position)
			}
			_, err = p.Outbox.WorkQueue("").Ack(ctx, owner, ids...)
			must(t, err)
			_, err = old.SQL.ExecContext(ctx, "UPDATE "+old.Table("outbox_done")+" SET processed_at = "+old.Earlier("processed_at", 40*24*time.Hour))
			must(t, err)
			n, err := p.Internal(access.Key{}).Components[0].Cleanup.Once(ctx)
			must(t, err)
			if n != 100 {
				t.Fatalf("deleted %d messages, want 100", n)
			}
		}}
		_, err := move.Run(ctx, from, sideOf(new, "new"), quiet())
		must(t, err)
		want, have := rows(t, old, engine.Tables()[1]), rows(t, new, engine.Tables()[1])
		if len(have) != 500 || !reflect.DeepEqual(have, want) {
			t.Errorf("%d messages in the new database, want the %d of the old one", len(have), len(want))
		}
		new.CheckPlaces(t)
	})
}

// interrupted does something once messages were copied, before the store is drained.
type interrupted struct {
	*failing
	then func()
}

func (i *interrupted) Do(ctx context.Context, calls ...*engine.Call) error {
	if _, ok := calls[0].Operation.(op.PausePut); ok && i.then != nil {
		i.then()
		i.then = nil
	}
	return i.failing.Do(ctx, calls...)
}

// D-260: a move that is not over can be given up, and leaves nothing behind.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		s := fill(t, old)
		want := tables(t, old)
		from, to := sideOf(old, "old"), sideOf(new, "new")
		o := quiet()
		o.Drain = -1
		o.Switch = func(context.Context) error { return errKilled }
		if _, err := move.Run(ctx, from, to, o); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if _, err := open(t, new).Outbox.Enqueue(ctx, outbox.Message{Topic: "x"}); !errors.Is(err, engine.ErrMoved) {
			t.Errorf("the new database took a message before the move was over: %v", err)
		}
		must(t, move.GiveUp(ctx, from, to, quiet()))
		for name, have := range tables(t, old) {
			if !reflect.DeepEqual(have, want[name]) {
				t.Errorf("%s of the old database:\n%v\nwant\n%v", name, have, want[name])
			}
		}
		for name, have := range tables(t, new) {
			if len(have) > 0 && name != "outbox_lane" {
				t.Errorf("%d rows are left in %s of the new database", len(have), name)
			}
		}
		for _, d := range []dbtest.Database{old, new} {
			_, err := open(t, d).Outbox.Enqueue(ctx, outbox.Message{Topic: "x"})
			must(t, err)
		}
		if err := move.GiveUp(ctx, from, to, quiet()); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("nothing to give up: %v", err)
		}
		must(t, s.held.Renew(ctx))
	})
}

// D-260: what cannot be moved is refused, and nothing is changed.
func TestRefused(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		fill(t, old)
		if _, err := move.Run(ctx, sideOf(old, "old"), sideOf(old, "same"), quiet()); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("into itself: %v", err)
		}
		used := open(t, new)
		_, err := used.Outbox.Enqueue(ctx, outbox.Message{Topic: "x"})
		must(t, err)
		if _, err := move.Run(ctx, sideOf(old, "old"), sideOf(new, "new"), quiet()); !errors.Is(err, move.ErrNotEmpty) {
			t.Errorf("into one with messages: %v", err)
		}
		_, err = open(t, old).Outbox.Enqueue(ctx, outbox.Message{Topic: "x"})
		must(t, err)
		empty := dbtest.OpenSQLite(t)
		o := quiet()
		o.Drain = -1
		writes := 0
		begun := sideOf(old, "old")
		begun.DB = failingAt(old, &writes, 1, true)
		if _, err := move.Run(ctx, begun, sideOf(empty, "there"), o); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if _, err := move.Run(ctx, sideOf(old, "old"), sideOf(dbtest.OpenSQLite(t), "elsewhere"), o); !errors.Is(err, move.ErrOther) {
			t.Errorf("elsewhere in the middle of a move: %v", err)
		}
		_, err = move.Run(ctx, sideOf(old, "old"), sideOf(empty, "there"), o)
		must(t, err)
		other := dbtest.OpenSQLite(t)
		if _, err := move.Run(ctx, sideOf(old, "old"), sideOf(other, "elsewhere"), o); !errors.Is(err, move.ErrOther) {
			t.Errorf("a second time, elsewhere: %v", err)
		}
		if _, err := move.Run(ctx, sideOf(old, "old"), sideOf(empty, "there"), o); err != nil {
			t.Errorf("repeated: %v", err)
		}
		if err := move.GiveUp(ctx, sideOf(old, "old"), sideOf(empty, "there"), o); !errors.Is(err, move.ErrOver) {
			t.Errorf("given up when over: %v", err)
		}
		// It can move on, and back where it was once the rows there are gone.
		third := dbtest.OpenSQLite(t)
		_, err = move.Run(ctx, sideOf(empty, "there"), sideOf(third, "third"), o)
		must(t, err)
	})
}

// D-256: every table and column of the schema belongs to a store, and is moved, or to the
// database. A migration that adds one has to say which.
func TestTablesAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	own := strings.Fields("generation outbox_sequence lease_waiter activity audit_trail worker_process move move_table pawl_schema pawl_object")
	for name, openDB := range map[string]func(testing.TB) dbtest.Database{"sqlite": dbtest.OpenSQLite, "postgres": dbtest.OpenPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDB(t)
			query := "SELECT m.name, p.name FROM sqlite_schema m, pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'"
			if name == "postgres" {
				schema := strings.Trim(strings.TrimSuffix(d.Table(""), "."), `"`)
				query = "SELECT c.table_name, c.column_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name) WHERE t.table_type = 'BASE TABLE' AND c.table_schema = '" + schema + "'"
			}
			found, err := d.SQL.QueryContext(t.Context(), query)
			must(t, err)
			defer func() { _ = found.Close() }()
			have := map[string][]string{}
			for found.Next() {
				var table, column string
				must(t, found.Scan(&table, &column))
				have[table] = append(have[table], column)
			}
			must(t, found.Err())
			for _, table := range engine.Tables() {
				var want []string
				for _, c := range table.Columns {
					want = append(want, c.Name)
				}
				if table.Name == "outbox_limit_claim" { // read as rows of one message each
					want = append(want, map[string][]string{"sqlite": {"more", "n"}, "postgres": {"more"}}[name]...)
				}
				slices.Sort(want)
				got := have[table.Name]
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("table %s has %v, moved are %v", table.Name, got, want)
				}
				delete(have, table.Name)
			}
			for table := range have {
				if !slices.Contains(own, table) {
					t.Errorf("table %s is neither moved nor the database's own", table)
				}
			}
		})
	}
}

// D-259: of several processes that move one store at once none copies a row twice, or writes to
// the new database when it is the store; one of them ends the move.
func TestTwoMovers(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, old, new dbtest.Database) {
		ctx := t.Context()
		fill(t, old)
		want := tables(t, old)
		o := quiet()
		o.Drain, o.Batch = -1, 1
		// Each of the slow mover's transactions waits until the other mover has made one, or has ended.
		turns := make(chan struct{})
		slow, fast := sideOf(new, "new"), sideOf(new, "new")
		m, _ := engine.As[engine.Movable](new.DB)
		slow.DB = &turning{DB: new.DB, Movable: m, before: func() { <-turns }}
		fast.DB = &turning{DB: new.DB, Movable: m, after: func() {
			select {
			case turns <- struct{}{}:
			default:
			}
		}}
		ended := make(chan error, 1)
		go func() {
			_, err := move.Run(ctx, sideOf(old, "old"), slow, o)
			ended <- err
		}()
		var err error
		for range 1000 { // it may be the one that gives way
			if _, err = move.Run(ctx, sideOf(old, "old"), fast, o); err == nil {
				break
			}
		}
		must(t, err)
		close(turns)
		if err := <-ended; err != nil && !errors.Is(err, move.ErrOther) && !errors.Is(err, engine.ErrUnique) {
			t.Errorf("the slow one: %v", err)
		}
		for name, have := range tables(t, new) {
			if len(have)+len(want[name]) > 0 && !reflect.DeepEqual(have, want[name]) {
				t.Errorf("%s:\n%v\nwant\n%v", name, have, want[name])
			}
		}
		if _, err := open(t, new).Outbox.Enqueue(ctx, outbox.Message{Topic: "x"}); err != nil {
			t.Error(err)
		}
		if _, err := open(t, old).Outbox.Enqueue(ctx, outbox.Message{Topic: "x"}); !errors.Is(err, engine.ErrMoved) {
			t.Error(err)
		}
	})
}

// turning is a database that calls functions around the transactions of a move.
type turning struct {
	engine.DB
	engine.Movable
	before, after func()
}

func (d *turning) InMove(ctx context.Context, id [16]byte, fn func(ctx context.Context, tx engine.Tx) error) error {
	if d.before != nil {
		d.before()
	}
	if d.after != nil {
		defer d.after()
	}
	return d.Movable.InMove(ctx, id, fn)
}

// looked is a new database that calls before when its tables are looked at for the first time.
type looked struct {
	engine.DB
	engine.Movable
	before func()
}

func (d *looked) TableRows(ctx context.Context, t *engine.Table, above []any, n int) ([][]any, error) {
	if before := d.before; before != nil {
		d.before = nil
		before()
	}
	return d.Movable.TableRows(ctx, t, above, n)
}

// D-259: a mover that begins while another one does says that, and not that the new database had rows.
func TestMoverThatBeginsLast(t *testing.T) {
	t.Parallel()
	old, new := dbtest.OpenSQLite(t), dbtest.OpenSQLite(t)
	ctx := t.Context()
	fill(t, old)
	o := quiet()
	o.Drain = -1
	m, _ := engine.As[engine.Movable](new.DB)
	last := sideOf(new, "new")
	last.DB = &looked{DB: new.DB, Movable: m, before: func() {
		_, err := move.Run(ctx, sideOf(old, "old"), sideOf(new, "new"), o)
		must(t, err)
	}}
	if _, err := move.Run(ctx, sideOf(old, "old"), last, o); !errors.Is(err, move.ErrOther) {
		t.Errorf("the last one: %v", err)
	}
}

// D-259: a mover that was stopped in the middle, and goes on when another one has ended the move,
// writes nothing more.
func TestLateMover(t *testing.T) {
	t.Parallel()
	old, new := dbtest.OpenSQLite(t), dbtest.OpenSQLite(t)
	ctx := t.Context()
	fill(t, old)
	o := quiet()
	o.Drain = -1
	stopped, goOn := make(chan struct{}, 100), make(chan struct{})
	m, _ := engine.As[engine.Movable](new.DB)
	late := sideOf(new, "new")
	late.DB = &turning{DB: new.DB, Movable: m, before: func() {
		stopped <- struct{}{}
		<-goOn
	}}
	ended := make(chan error, 1)
	go func() {
		_, err := move.Run(ctx, sideOf(old, "old"), late, o)
		ended <- err
	}()
	<-stopped
	_, err := move.Run(ctx, sideOf(old, "old"), sideOf(new, "new"), o)
	must(t, err)
	want := tables(t, new)
	close(goOn)
	if err := <-ended; !errors.Is(err, move.ErrOther) {
		t.Errorf("the late one: %v", err)
	}
	if have := tables(t, new); !reflect.DeepEqual(have, want) {
		t.Error("the late one wrote to the new database")
	}
}
