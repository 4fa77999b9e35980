package pawl_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// scene is what the calls of a caller's transaction are made on.
type scene struct {
	*pawl.Pawl
	join, other join.ID
	message     outbox.MessageID // in no join
	member      outbox.MessageID
	timer       timer.ID
	lease       *lease.Lease
	outbox      func(name string) string
}

func newScene(t *testing.T, d dbtest.Database) *scene {
	t.Helper()
	p, err := pawl.New(d.DB, pawl.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	must(t, err)
	s := &scene{Pawl: p, outbox: d.Table}
	ids, err := p.Outbox.EnqueueBatch(t.Context(), []outbox.Message{{Topic: "step"}, {Topic: "step"}})
	must(t, err)
	s.message, s.member = ids[0], ids[1]
	s.join, err = p.Joins.Start(t.Context(), join.Spec{ExpectedSteps: 9})
	must(t, err)
	s.other, err = p.Joins.Start(t.Context(), join.Spec{ExpectedSteps: 9})
	must(t, err)
	must(t, p.Joins.Attach(t.Context(), s.join, s.member))
	s.timer, err = p.Timers.Schedule(t.Context(), timer.Timer{Topic: "tick", Key: "old", Due: time.Now().Add(time.Hour)})
	must(t, err)
	s.lease, err = p.Leases.Acquire(t.Context(), "l", lease.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.lease.Close(context.Background()) })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// first is a call's error, whatever else it returns.
func first[T any](_ T, err error) error { return err }

// D-113: what repeatable read and serializable do to the calls that take a caller's
// transaction: most work, and those that would not see what others did while they
// waited are refused, whatever there is to wait for. docs/isolation.md says the same.
func TestIsolationOfACallersTransaction(t *testing.T) {
	key := inbox.Key{Source: "s", MessageID: "1"}
	calls := map[string]struct {
		refused bool
		call    func(ctx context.Context, s *scene, tx *sql.Tx) error
	}{
		"Outbox.EnqueueTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t"}))
		}},
		"Outbox.EnqueueTx with an id, to a new queue": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t", ID: outbox.MessageID{1}, Queue: "new"}))
		}},
		"Outbox.EnqueueBatchTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Outbox.EnqueueBatchTx(ctx, tx, []outbox.Message{{Topic: "t"}, {Topic: "t"}}))
		}},
		"Joins.StartTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Joins.StartTx(ctx, tx, join.Spec{ExpectedSteps: 1, Deadline: time.Now().Add(time.Hour)}))
		}},
		"Joins.FanOutTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Joins.FanOutTx(ctx, tx, join.Spec{}, []outbox.Message{{Topic: "t"}}, join.Wait{OnComplete: outbox.Message{Topic: "t"}}))
		}},
		"Joins.WaitTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Joins.WaitTx(ctx, tx, s.join, join.Wait{OnComplete: outbox.Message{Topic: "t"}}))
		}},
		"Joins.AttachTx": {true, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return s.Joins.AttachTx(ctx, tx, s.other, s.message)
		}},
		"Joins.ReportCompletedTx": {true, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Joins.ReportCompletedTx(ctx, tx, s.join, s.member))
		}},
		"Joins.ReportFailedTx": {true, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Joins.ReportFailedTx(ctx, tx, s.join, s.member))
		}},
		"Joins.CancelTx": {true, func(ctx context.Context, s *scene, tx *sql.Tx) error { return first(s.Joins.CancelTx(ctx, tx, s.join)) }},
		"Timers.ScheduleTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Timers.ScheduleTx(ctx, tx, timer.Timer{Topic: "tick", Key: "new", Due: time.Now().Add(time.Hour)}))
		}},
		"Timers.ScheduleTx of a known key": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Timers.ScheduleTx(ctx, tx, timer.Timer{Topic: "tick", Key: "old", Due: time.Now().Add(time.Hour)}))
		}},
		"Timers.CancelTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Timers.CancelTx(ctx, tx, s.timer))
		}},
		"Timers.CancelKeyTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Timers.CancelKeyTx(ctx, tx, "old"))
		}},
		"Timers.RescheduleTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Timers.RescheduleTx(ctx, tx, s.timer, time.Now().Add(time.Minute)))
		}},
		"Inbox.EnqueueTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Inbox.EnqueueTx(ctx, tx, inbox.Message{Key: key, Topic: "t"}))
		}},
		"Inbox.AlreadyProcessedTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Inbox.AlreadyProcessedTx(ctx, tx, key))
		}},
		"Inbox.MarkProcessedTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Inbox.MarkProcessedTx(ctx, tx, key))
		}},
		"Inbox.OnceTx": {false, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Inbox.OnceTx(ctx, tx, key, func(context.Context) error { return nil }))
		}},
		"Lease.Guard": {true, func(ctx context.Context, s *scene, tx *sql.Tx) error { return s.lease.Guard(ctx, tx) }},
		"Outbox.EnqueueTx with a unique key": {true, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			return first(s.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t", UniqueKey: "k"}))
		}},
		"Outbox.AckTx": {true, func(ctx context.Context, s *scene, tx *sql.Tx) error {
			err := s.Outbox.AckTx(ctx, tx, &outbox.Message{Topic: "t", Owner: outbox.NewOwnerToken(), Position: 1})
			if errors.Is(err, outbox.ErrLeaseLost) { // which it could see
				return nil
			}
			return err
		}},
		"SELECT outbox_enqueue_unique": {true, selected("outbox_enqueue_unique('t', '{}'::text, 'k')")},
		"SELECT outbox_enqueue":        {false, selected("outbox_enqueue('t', '{}'::text)")},
		"SELECT outbox_claim":          {true, selected("outbox_claim(gen_random_uuid(), 60)")},
		"SELECT outbox_abandon":        {false, selected("outbox_abandon(gen_random_uuid(), '{1}')")},
		"SELECT outbox_release":        {false, selected("outbox_release(gen_random_uuid(), '{1}')")},
		"SELECT outbox_extend":         {false, selected("outbox_extend(gen_random_uuid(), '{1}', 60)")},
		"SELECT outbox_set_result":     {true, selected("outbox_set_result(gen_random_uuid(), 1, 'x')")},
		"SELECT outbox_ack":            {true, selected("outbox_ack(gen_random_uuid(), '{1}')")},
		"SELECT outbox_fail":           {true, selected("outbox_fail(gen_random_uuid(), '{1}')")},
		"SELECT timer_schedule":        {false, selected("timer_schedule('t', '{}', clock_timestamp() + interval '1 hour')")},
		"SELECT job_delete":            {true, selected("job_delete('none')")},
	}
	d := dbtest.OpenPostgres(t)
	s := newScene(t, d)
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		for name, c := range calls {
			t.Run(level.String()+"/"+name, func(t *testing.T) {
				tx, err := d.SQL.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
				must(t, err)
				defer func() { _ = tx.Rollback() }()
				err = c.call(t.Context(), s, tx)
				if refused := c.refused && level != sql.LevelReadCommitted; refused != errors.Is(err, engine.ErrIsolation) && refused != isState(err, "25000") {
					t.Fatalf("refused %v: %v", refused, err)
				} else if !refused && err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// D-113: docs/isolation.md has every call that takes a transaction.
func TestIsolationOfEveryCallIsDocumented(t *testing.T) {
	text, err := os.ReadFile("docs/isolation.md")
	must(t, err)
	s := newScene(t, dbtest.OpenPostgres(t))
	for name := range txCalls(t, s.Pawl, s.lease) {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/isolation.md lacks %s", name)
		}
	}
}

// D-113: what changed since a transaction's snapshot makes it fail in a way that says
// so, where read committed would have seen it.
func TestWhatChangedSinceTheSnapshot(t *testing.T) {
	key := inbox.Key{Source: "s", MessageID: "1"}
	d := dbtest.OpenPostgres(t)
	changes := map[string]struct {
		change func(ctx context.Context, s *scene) error
		call   func(ctx context.Context, s *scene, tx *sql.Tx) error
	}{
		"an id that is known": {
			func(ctx context.Context, s *scene) error {
				return first(s.Outbox.Enqueue(ctx, outbox.Message{Topic: "t", ID: outbox.MessageID{7}}))
			},
			func(ctx context.Context, s *scene, tx *sql.Tx) error {
				return first(s.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "t", ID: outbox.MessageID{7}}))
			},
		},
		"a timer that moved": {
			func(ctx context.Context, s *scene) error {
				return first(s.Timers.Reschedule(ctx, s.timer, time.Now().Add(time.Minute)))
			},
			func(ctx context.Context, s *scene, tx *sql.Tx) error {
				return first(s.Timers.CancelTx(ctx, tx, s.timer))
			},
		},
		"a key that is taken": {
			func(ctx context.Context, s *scene) error {
				return first(s.Timers.Schedule(ctx, timer.Timer{Topic: "tick", Key: "k", Due: time.Now().Add(time.Hour)}))
			},
			func(ctx context.Context, s *scene, tx *sql.Tx) error {
				return first(s.Timers.ScheduleTx(ctx, tx, timer.Timer{Topic: "tick", Key: "k", Due: time.Now().Add(time.Hour)}))
			},
		},
		"a delivery": {
			func(ctx context.Context, s *scene) error { return first(s.Inbox.AlreadyProcessed(ctx, key)) },
			func(ctx context.Context, s *scene, tx *sql.Tx) error {
				return first(s.Inbox.OnceTx(ctx, tx, key, func(context.Context) error { t.Error("it ran"); return nil }))
			},
		},
	}
	s := newScene(t, d)
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			tx, err := d.SQL.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			must(t, err)
			defer func() { _ = tx.Rollback() }()
			_, err = tx.ExecContext(t.Context(), "SELECT count(*) FROM "+d.Table("outbox_lane")) // takes its snapshot
			must(t, err)
			must(t, c.change(t.Context(), s))
			if err := c.call(t.Context(), s, tx); !errors.Is(err, engine.ErrSerialization) {
				t.Errorf("want ErrSerialization, got %v", err)
			}
		})
	}
}

func selected(call string) func(ctx context.Context, s *scene, tx *sql.Tx) error {
	return func(ctx context.Context, s *scene, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "SELECT "+s.outbox(call))
		return err
	}
}

// isState reports whether the server answered with a SQLSTATE.
func isState(err error, code string) bool {
	var pg interface{ SQLState() string }
	return errors.As(err, &pg) && pg.SQLState() == code
}
