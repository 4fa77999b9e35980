package pawl_test

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// txCalls are all exported methods of the components that take a caller's
// transaction, with arguments that are otherwise good.
func txCalls(t *testing.T, p *pawl.Pawl, held *lease.Lease) map[string]func(tx any) error {
	t.Helper()
	unexpected := func(context.Context) error { t.Error("the callback ran"); return nil }
	good := map[reflect.Type]any{
		reflect.TypeFor[context.Context]():             t.Context(),
		reflect.TypeFor[outbox.Message]():              outbox.Message{Topic: "t"},
		reflect.TypeFor[*outbox.Message]():             &outbox.Message{Topic: "t", Owner: outbox.NewOwnerToken(), Position: 1},
		reflect.TypeFor[[]outbox.Message]():            []outbox.Message{{Topic: "t"}, {Topic: "t"}},
		reflect.TypeFor[outbox.MessageID]():            outbox.MessageID{1},
		reflect.TypeFor[[]outbox.MessageID]():          []outbox.MessageID{{1}},
		reflect.TypeFor[inbox.Key]():                   inbox.Key{Source: "s", MessageID: "m"},
		reflect.TypeFor[inbox.Message]():               inbox.Message{Key: inbox.Key{Source: "s", MessageID: "n"}, Topic: "t"},
		reflect.TypeFor[func(context.Context) error](): unexpected,
		reflect.TypeFor[timer.Timer]():                 timer.Timer{Topic: "t", Due: time.Now().Add(time.Hour)},
		reflect.TypeFor[[]timer.Timer]():               []timer.Timer{{Topic: "t", Due: time.Now().Add(time.Hour)}},
		reflect.TypeFor[timer.ID]():                    timer.ID{1},
		reflect.TypeFor[string]():                      "key",
		reflect.TypeFor[time.Time]():                   time.Now().Add(time.Hour),
		reflect.TypeFor[join.Spec]():                   join.Spec{ExpectedSteps: 2},
		reflect.TypeFor[join.ID]():                     join.ID{1},
		reflect.TypeFor[join.Wait]():                   join.Wait{OnComplete: outbox.Message{Topic: "t"}, OnFail: outbox.Message{Topic: "t"}},
	}
	calls := map[string]func(tx any) error{}
	for _, component := range []any{p.Outbox, p.Inbox, p.Timers, p.Joins, p.Jobs, p.Leases, p.Admin, held} {
		v := reflect.ValueOf(component)
		for i := range v.NumMethod() {
			m, name := v.Method(i), reflect.TypeOf(component).Elem().Name()+"."+v.Type().Method(i).Name
			at, args := -1, make([]reflect.Value, m.Type().NumIn())
			for k := range args {
				switch in := m.Type().In(k); {
				case in == reflect.TypeFor[any]():
					at = k
				default:
					args[k] = reflect.ValueOf(good[in])
				}
			}
			if at < 0 {
				if strings.HasSuffix(name, "Tx") && !strings.Contains(name, "Handle") {
					t.Errorf("%s takes no transaction", name)
				}
				continue
			}
			calls[name] = func(tx any) error {
				args[at] = reflect.ValueOf(tx)
				call := m.Call
				if m.Type().IsVariadic() {
					call = m.CallSlice
				}
				err, _ := call(args)[m.Type().NumOut()-1].Interface().(error)
				return err
			}
		}
	}
	if len(calls) < 18 {
		t.Errorf("only %d calls take a transaction", len(calls))
	}
	return calls
}

// Wrappers as programs and libraries have them.
type (
	embedsPool struct{ *sql.DB }
	embedsConn struct{ *sql.Conn }
	embedsTx   struct{ *sql.Tx }
	embedsPgx  struct{ *pgxpool.Pool }
	hides      struct{ inner engine.Tx }
	hidesBoth  struct {
		pool *sql.DB
		tx   *sql.Tx
	}
	beginsOnly   struct{ hides }
	vouchesForIt struct{ hides }
)

func (h hides) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return h.inner.ExecContext(ctx, query, args...)
}

func (h hidesBoth) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if h.tx != nil {
		return h.tx.ExecContext(ctx, query, args...)
	}
	return h.pool.ExecContext(ctx, query, args...)
}

func (b beginsOnly) BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error) { return nil, nil }

func (v vouchesForIt) CheckTx() error { return nil }

// D-112: what is no open transaction is refused in every call that takes one, and
// nothing is stored.
func TestAForgottenTransactionIsRefused(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		p, held := withLease(t, d)
		without := forgotten(t, d)
		for name, call := range txCalls(t, p, held) {
			for what, tx := range without {
				err := call(tx)
				if !errors.Is(err, engine.ErrNotInTransaction) || !errors.Is(err, engine.ErrInvalid) {
					t.Errorf("%s in %s: %v", name, what, err)
				} else if !strings.Contains(err.Error(), "pass") {
					t.Errorf("%s in %s does not say what to pass: %v", name, what, err)
				}
			}
			for what, tx := range map[string]any{"nil": nil, "a nil *sql.Tx": (*sql.Tx)(nil), "a nil wrapper": (*embedsTx)(nil), "a nil pgx": postgres.Tx(nil), "a number": 7} {
				if tx == nil {
					continue // reflection cannot pass it; each component's suite does
				}
				if err := call(tx); !errors.Is(err, engine.ErrInvalid) || what != "a number" && !strings.Contains(err.Error(), "nil") {
					t.Errorf("%s in %s: %v", name, what, err)
				}
			}
		}
		for _, table := range []string{"outbox_message", "timer", "inbox", "outbox_join"} {
			if n := d.Count(t, "SELECT count(*) FROM "+d.Table(table)); n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
	})
}

// D-112: a transaction is taken however it is wrapped, and a connection on which one
// is open.
func TestATransactionIsTaken(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e dbtest.Engine) {
		d := e.Open(t)
		p, _ := withLease(t, d)
		for what, tx := range opened(t, d) {
			if _, err := p.Outbox.EnqueueTx(t.Context(), tx.tx, outbox.Message{Topic: what}); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if err := tx.rollback(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if n := d.Count(t, "SELECT count(*) FROM "+d.Table("outbox_message")); n != 0 {
			t.Errorf("%d messages outlived their rollback", n)
		}
	})
}

func withLease(t *testing.T, d dbtest.Database) (*pawl.Pawl, *lease.Lease) {
	t.Helper()
	p, err := pawl.New(d.DB, pawl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	held, err := p.Leases.Acquire(t.Context(), "l", lease.Options{Duration: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close(context.Background()) })
	return p, held
}

// connection returns a connection of the pool that goes back with the test.
func connection(t *testing.T, d dbtest.Database) *sql.Conn {
	t.Helper()
	conn, err := d.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func forgotten(t *testing.T, d dbtest.Database) map[string]any {
	conn := connection(t, d)
	all := map[string]any{
		"a pool":                       d.SQL,
		"what embeds a pool":           embedsPool{d.SQL},
		"what embeds it twice":         struct{ *embedsPool }{&embedsPool{d.SQL}},
		"what hides a pool":            hides{d.SQL},
		"what hides what hides a pool": &hides{&hides{d.SQL}},
		"what has no transaction yet":  hidesBoth{pool: d.SQL},
		"what can only begin":          beginsOnly{hides{d.SQL}},
		"a connection":                 conn,
		"what embeds a connection":     embedsConn{conn},
	}
	if db, ok := engine.As[*postgres.DB](d.DB); ok {
		one, err := db.Pool().Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(one.Release)
		all["a pgx pool"] = db.Pool()
		all["what embeds a pgx pool"] = embedsPgx{db.Pool()}
		all["a pool's pgx connection"] = one
		all["a pgx connection"] = one.Conn()
		all["what hides a pgx pool"] = hides{postgres.Tx(db.Pool())}
	}
	return all
}

type openTx struct {
	tx       any
	rollback func() error
}

// opened yields transactions one after another: SQLite lets only one write.
func opened(t *testing.T, d dbtest.Database) func(func(string, openTx) bool) {
	begin := func() *sql.Tx { return d.Begin(t) }
	list := map[string]func() openTx{
		"a transaction":         func() openTx { tx := begin(); return openTx{tx, tx.Rollback} },
		"what embeds it":        func() openTx { tx := begin(); return openTx{embedsTx{tx}, tx.Rollback} },
		"what hides it":         func() openTx { tx := begin(); return openTx{hides{tx}, tx.Rollback} },
		"what hides it twice":   func() openTx { tx := begin(); return openTx{&hides{hides{tx}}, tx.Rollback} },
		"what holds a pool too": func() openTx { tx := begin(); return openTx{hidesBoth{d.SQL, tx}, tx.Rollback} },
		"what says so itself":   func() openTx { tx := begin(); return openTx{vouchesForIt{hides{tx}}, tx.Rollback} },
		"its connection": func() openTx {
			conn := connection(t, d)
			tx, err := conn.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return openTx{conn, func() error { return errors.Join(tx.Rollback(), conn.Close()) }}
		},
		"a connection after BEGIN": func() openTx {
			conn := connection(t, d)
			exec := func(query string) error { _, err := conn.ExecContext(t.Context(), query); return err }
			if err := exec("BEGIN"); err != nil {
				t.Fatal(err)
			}
			return openTx{embedsConn{conn}, func() error { return errors.Join(exec("ROLLBACK"), conn.Close()) }}
		},
	}
	if db, ok := engine.As[*postgres.DB](d.DB); ok {
		native := func(with func(pgx.Tx) any) func() openTx {
			return func() openTx {
				tx, err := db.Pool().Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return openTx{with(tx), func() error { return tx.Rollback(t.Context()) }}
			}
		}
		list["a pgx transaction"] = native(func(tx pgx.Tx) any { return tx })
		list["its pgx connection"] = native(func(tx pgx.Tx) any { return tx.Conn() })
		list["what hides a pgx transaction"] = native(func(tx pgx.Tx) any { return hides{postgres.Tx(tx)} })
	}
	return func(yield func(string, openTx) bool) {
		for what, tx := range list {
			if !yield(what, tx()) {
				return
			}
		}
	}
}
