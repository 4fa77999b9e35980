package pawl_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/sqlite"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// limited opens a file whose calls give up waiting for their turn after a while. On a busy machine one that
// need not wait took 0.3 s.
func limited(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	return dbtest.SQLiteAt(t, path, sqlite.Options{StatementTimeout: 15 * time.Second})
}

func onPawl(t *testing.T, db pawl.DB) *pawl.Pawl {
	t.Helper()
	p, err := pawl.New(db, pawl.Options{Health: health.Options{Timeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// inside runs fn in each way in which pawl runs functions in a transaction.
func inside(t *testing.T, p *pawl.Pawl, fn func(ctx context.Context, tx any)) {
	t.Helper()
	key := func(id string) inbox.Key { return inbox.Key{Source: "inside", MessageID: id} }
	once := func(ctx context.Context, tx outbox.Tx) error { fn(ctx, tx); return nil }
	if err := p.Inbox.Once(t.Context(), key("once"), once); err != nil {
		t.Errorf("Once: %v", err)
	}
	tx, err := p.DB().(*sqlite.DB).SQL().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := p.Inbox.OnceTx(t.Context(), tx, key("tx"), func(ctx context.Context) error { fn(ctx, tx); return nil }); err != nil {
		t.Errorf("OnceTx: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// insideCalls are the exported methods of the components that take a context and none that takes
// a transaction, with arguments that are good.
func insideCalls(t *testing.T, p *pawl.Pawl, held *lease.Lease) map[string]func(ctx context.Context) error {
	t.Helper()
	due := time.Now().Add(time.Hour)
	good := map[reflect.Type]any{
		reflect.TypeFor[outbox.Message]():              outbox.Message{Topic: "t"},
		reflect.TypeFor[*outbox.Message]():             &outbox.Message{Topic: "t"},
		reflect.TypeFor[[]outbox.Message]():            []outbox.Message{{Topic: "t"}, {Topic: "t", OrderingKey: "k"}},
		reflect.TypeFor[outbox.MessageID]():            outbox.MessageID{1},
		reflect.TypeFor[[]outbox.MessageID]():          []outbox.MessageID{{1}},
		reflect.TypeFor[[]outbox.Position]():           []outbox.Position{1},
		reflect.TypeFor[[]timer.ID]():                  []timer.ID{{1}},
		reflect.TypeFor[time.Duration]():               time.Second,
		reflect.TypeFor[int]():                         1,
		reflect.TypeFor[error]():                       errors.New("cause"),
		reflect.TypeFor[inbox.Key]():                   inbox.Key{Source: "s", MessageID: "m"},
		reflect.TypeFor[inbox.Message]():               inbox.Message{Key: inbox.Key{Source: "s", MessageID: "n"}, Topic: "t"},
		reflect.TypeFor[timer.Timer]():                 timer.Timer{Topic: "t", Due: due},
		reflect.TypeFor[[]timer.Timer]():               []timer.Timer{{Topic: "t", Due: due}},
		reflect.TypeFor[timer.ID]():                    timer.ID{1},
		reflect.TypeFor[string]():                      "key",
		reflect.TypeFor[time.Time]():                   due,
		reflect.TypeFor[join.Spec]():                   join.Spec{ExpectedSteps: 2},
		reflect.TypeFor[uuid.UUID]():                   uuid.UUID{1}, // a join's id and an owner token
		reflect.TypeFor[join.Wait]():                   join.Wait{OnComplete: outbox.Message{Topic: "t"}},
		reflect.TypeFor[job.Job]():                     job.Job{Name: "j", Schedule: "* * * * *", Topic: "t"},
		reflect.TypeFor[[]job.Job]():                   []job.Job{{Name: "j", Schedule: "* * * * *", Topic: "t"}},
		reflect.TypeFor[admin.Kind]():                  admin.Topic,
		reflect.TypeFor[outbox.Limit]():                outbox.Limit{Concurrency: 1},
		reflect.TypeFor[func(context.Context) error](): func(context.Context) error { t.Error("the callback ran"); return nil },
	}
	calls := map[string]func(ctx context.Context) error{}
	for name, component := range map[string]any{
		"Outbox": p.Outbox, "Inbox": p.Inbox, "Timers": p.Timers, "Joins": p.Joins, "Jobs": p.Jobs, "Leases": p.Leases, "Admin": p.Admin, "Lease": held, "Pawl": p,
		"Messages": p.Outbox.WorkQueue(""), "Due": p.Timers.WorkQueue(), "Runs": p.Jobs.WorkQueue(),
	} {
		v := reflect.ValueOf(component)
		for i := range v.NumMethod() {
			m, method := v.Method(i), v.Type().Method(i).Name
			in := m.Type()
			if in.NumIn() == 0 || in.In(0) != reflect.TypeFor[context.Context]() || in.NumIn() > 1 && in.In(1) == reflect.TypeFor[any]() ||
				in.NumOut() == 0 || in.Out(in.NumOut()-1) != reflect.TypeFor[error]() && in.Out(0).Kind() != reflect.Func || method == "Run" && component != p.Leases && component != p || method == "Close" {
				continue
			}
			args := make([]reflect.Value, in.NumIn())
			for k := 1; k < len(args); k++ {
				args[k] = reflect.Zero(in.In(k))
				if g, ok := good[in.In(k)]; ok {
					args[k] = reflect.ValueOf(g)
				}
			}
			calls[name+"."+method] = func(ctx context.Context) error {
				args[0] = reflect.ValueOf(ctx)
				call := m.Call
				if in.IsVariadic() {
					call = m.CallSlice
				}
				last := call(args)[in.NumOut()-1]
				err, _ := last.Interface().(error)
				if in.Out(0).Kind() == reflect.Func { // a list
					for _, failed := range last.Seq2() {
						err, _ = failed.Interface().(error)
					}
				}
				return err
			}
		}
	}
	return calls
}

// D-404: on SQLite every call that would wait for the transaction that its caller has open is
// refused, and says which one is right.
func TestCallsInsideATransaction(t *testing.T) {
	t.Parallel()
	db := limited(t, filepath.Join(t.TempDir(), "inside.db"))
	dbtest.Migrate(t, db)
	p := onPawl(t, db)
	held, err := p.Leases.Acquire(t.Context(), "held", lease.Options{Duration: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	calls := insideCalls(t, p, held)
	refused := map[string]bool{}
	inside(t, p, func(ctx context.Context, _ any) {
		for name, call := range calls {
			err := call(ctx)
			component, method, _ := strings.Cut(name, ".")
			of := reflect.Indirect(reflect.ValueOf(p)).FieldByName(component)
			variant := of.IsValid() && of.MethodByName(method+"Tx").IsValid()
			switch is := errors.Is(err, pawl.ErrInTransaction); {
			case errors.Is(err, pawl.ErrBusy), errors.Is(err, context.DeadlineExceeded):
				t.Errorf("%s waited for its caller: %v", name, err)
			case variant && !is:
				t.Errorf("%s was not refused: %v", name, err)
			case variant && !strings.Contains(strings.ReplaceAll(err.Error(), "Batch", ""), "use "+strings.ReplaceAll(method, "Batch", "")+"Tx "):
				t.Errorf("%s does not name the right call: %v", name, err)
			case is:
				refused[name] = true
			}
		}
	})
	for _, name := range []string{
		"Outbox.Enqueue", "Outbox.EnqueueBatch", "Messages.Ack", "Messages.Claim", "Due.Fail", "Runs.Abandon", "Outbox.Extend", "Outbox.Redrive", "Timers.Schedule", "Timers.Cancel", "Joins.FanOut", "Joins.Wait", "Jobs.Put", "Jobs.Delete",
		"Inbox.Once", "Inbox.Attempt", "Inbox.MarkFailed", "Leases.Acquire", "Leases.AcquireWait", "Leases.Run", "Leases.Elect", "Pawl.Run", "Lease.Renew", "Admin.Pause", "Admin.SetLimit", "Pawl.Migrate", "Pawl.AfterRestore",
	} {
		if !refused[name] {
			t.Errorf("%s was not refused", name)
		}
	}
}

// D-404: what takes the transaction works, also in a nested function; readers wait for nobody,
// and when the transaction is over its context is as any other.
func TestRightCallsInsideATransaction(t *testing.T) {
	t.Parallel()
	db := limited(t, filepath.Join(t.TempDir(), "inside.db"))
	dbtest.Migrate(t, db)
	p := onPawl(t, db)
	var kept context.Context
	inside(t, p, func(ctx context.Context, tx any) {
		if _, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t"}); err != nil {
			t.Errorf("EnqueueTx: %v", err)
		}
		ran, err := p.Inbox.OnceTx(ctx, tx, inbox.Key{Source: "s", MessageID: "nested"}, func(ctx context.Context) error {
			_, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t"})
			return err
		})
		if first := kept == nil; err != nil || ran != first {
			t.Errorf("OnceTx: %v %v", ran, err)
		}
		if r := p.Health(ctx); len(r.Findings) == 0 || strings.Contains(r.String(), "does not answer") {
			t.Errorf("health: %v", r)
		}
		if _, err := engine.Collect(p.Outbox.List(ctx, outbox.ListOptions{}), 100); err != nil {
			t.Errorf("List: %v", err)
		}
		kept = ctx
	})
	if _, err := p.Outbox.Enqueue(context.WithoutCancel(kept), outbox.Message{Topic: "t"}); err != nil {
		t.Errorf("after the transaction: %v", err)
	}
}

// D-404: the same file is the same database however it was opened, and another file is another.
// The mark holds for goroutines, and for transactions of the program on pawl's pool.
func TestOtherDatabasesInsideATransaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "inside.db")
	db := limited(t, path)
	dbtest.Migrate(t, db)
	p, again := onPawl(t, db), onPawl(t, limited(t, path))
	other := limited(t, filepath.Join(t.TempDir(), "other.db"))
	dbtest.Migrate(t, other)
	elsewhere := onPawl(t, other)
	m := outbox.Message{Topic: "t"}
	inside(t, p, func(ctx context.Context, _ any) {
		if _, err := again.Outbox.Enqueue(ctx, m); !errors.Is(err, pawl.ErrInTransaction) {
			t.Errorf("the same file opened again: %v", err)
		}
		err := elsewhere.Inbox.Once(ctx, inbox.Key{Source: "s", MessageID: t.Name()}, func(ctx context.Context, tx outbox.Tx) error {
			if _, err := p.Outbox.Enqueue(ctx, m); !errors.Is(err, pawl.ErrInTransaction) {
				t.Errorf("back in the outer one: %v", err)
			}
			_, err := elsewhere.Outbox.EnqueueTx(ctx, tx, m)
			return err
		})
		if err != nil {
			t.Errorf("another file: %v", err)
		}
		answer := make(chan error)
		go func() {
			_, err := p.Timers.Schedule(ctx, timer.Timer{Topic: "t", Due: time.Now()})
			answer <- err
		}()
		if err := <-answer; !errors.Is(err, pawl.ErrInTransaction) {
			t.Errorf("in a goroutine: %v", err)
		}
		if _, err := db.SQL().BeginTx(ctx, nil); !errors.Is(err, pawl.ErrInTransaction) {
			t.Errorf("another transaction: %v", err)
		}
	})
	if got, err := elsewhere.Outbox.Count(t.Context()); err != nil || got.Ready != 1 {
		t.Errorf("elsewhere there are %+v, %v", got, err)
	}
}

// D-404: a group of enqueues is led by one caller's context; whose call it is decides.
func TestCallsOfOthersDuringATransaction(t *testing.T) {
	t.Parallel()
	db := dbtest.SQLiteAt(t, filepath.Join(t.TempDir(), "inside.db"), sqlite.Options{})
	dbtest.Migrate(t, db)
	p := onPawl(t, db)
	answers := make(chan error, 3)
	inside(t, p, func(ctx context.Context, _ any) {
		go func() {
			_, err := p.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "t"})
			answers <- err
		}()
		if _, err := p.Outbox.Enqueue(ctx, outbox.Message{Topic: "t"}); !errors.Is(err, pawl.ErrInTransaction) {
			t.Errorf("its own: %v", err)
		}
	})
	for range 2 {
		if err := <-answers; err != nil {
			t.Errorf("another's: %v", err)
		}
	}
}

var _ engine.TxContexts = (*sqlite.DB)(nil)
