// Package suite is what every driver and library is to do with pawl: its tests are
// written once and run in a leg of each.
package suite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// Leg is one way for a program to talk to its database.
type Leg struct {
	// DB is a migrated database.
	DB engine.DB
	// Transact runs fn in a transaction as the library has it: committed if fn
	// returns nil, otherwise rolled back, and fn's error returned.
	Transact func(ctx context.Context, fn func(tx any) error) error
	// Outside are the things of the library that are no transaction, and so are to be
	// refused.
	Outside map[string]any
}

// Run runs the tests that every leg passes, one after another on one database.
func Run(t *testing.T, open func(t *testing.T) Leg) {
	leg := open(t)
	t.Run("forgotten", func(t *testing.T) { forgotten(t, leg) })
	t.Run("known", func(t *testing.T) { known(t, leg) })
	t.Run("transactions", func(t *testing.T) { transactions(t, leg) })
}

// Must fails the test at once.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Plain is database/sql as it comes.
func Plain(pool *sql.DB) func(ctx context.Context, fn func(tx any) error) error {
	return func(ctx context.Context, fn func(tx any) error) error {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		return End(tx, fn(tx))
	}
}

func newPawl(t testing.TB, db engine.DB, o pawl.Options) *pawl.Pawl {
	t.Helper()
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := pawl.New(db, o)
	Must(t, err)
	return p
}

var errUndo = errors.New("undo")

// awkward is text that has to be quoted wherever it is part of a statement.
const awkward = `'a' "b" \c {d,e} $1 ?1 ?0 ; -- żółw 🐢` + "\n\t"

// D-3, OBX-002: every component writes in the transaction, and what it wrote shares
// the transaction's fate.
func transactions(t *testing.T, leg Leg) {
	p := newPawl(t, leg.DB, pawl.Options{})
	ctx := t.Context()
	held, err := p.Leases.Acquire(ctx, "guard", lease.Options{Duration: time.Minute})
	Must(t, err)
	defer held.Close(ctx)
	var ids []outbox.MessageID
	var timers []timer.ID
	var joined join.ID
	msgs := messages()
	write := func(tx any) (err error) {
		if err = held.Guard(ctx, tx); err != nil {
			return fmt.Errorf("guard: %w", err)
		}
		if ids, err = p.Outbox.EnqueueBatchTx(ctx, tx, msgs); err != nil {
			return fmt.Errorf("enqueue: %w", err)
		}
		if timers, err = p.Timers.ScheduleBatchTx(ctx, tx, []timer.Timer{
			{Topic: "t", Key: "k", Payload: []byte(awkward), Due: time.Now().Add(time.Hour)}, {Topic: "t", Due: time.Now().Add(time.Hour)},
		}); err != nil {
			return fmt.Errorf("schedule: %w", err)
		}
		if _, err = p.Timers.CancelTx(ctx, tx, timers[1]); err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
		if joined, err = p.Joins.StartTx(ctx, tx, join.Spec{ExpectedSteps: 2, GroupingKey: awkward}); err != nil {
			return fmt.Errorf("start a join: %w", err)
		}
		if err = p.Joins.AttachTx(ctx, tx, joined, ids[:2]...); err != nil {
			return fmt.Errorf("attach: %w", err)
		}
		received := inbox.Key{Source: awkward[:20], MessageID: "1", Hash: []byte{0, 1, 255}}
		if _, err = p.Inbox.AlreadyProcessedTx(ctx, tx, received); err != nil {
			return fmt.Errorf("see: %w", err)
		}
		if _, err = p.Inbox.MarkProcessedTx(ctx, tx, received); err != nil {
			return fmt.Errorf("mark as processed: %w", err)
		}
		_, err = p.Inbox.OnceTx(ctx, tx, inbox.Key{Source: "s", MessageID: "2"}, func(context.Context) error { return nil })
		return err
	}
	err = leg.Transact(ctx, func(tx any) error { return errors.Join(write(tx), errUndo) })
	if !errors.Is(err, errUndo) || strings.TrimSpace(err.Error()) != errUndo.Error() {
		t.Fatalf("a transaction that is rolled back: %v", err)
	}
	if _, err := p.Outbox.Get(ctx, ids[0]); !errors.Is(err, outbox.ErrNotFound) {
		t.Errorf("a message outlived the rollback: %v", err)
	}
	if _, err := p.Joins.Get(ctx, joined); !errors.Is(err, join.ErrNotFound) {
		t.Errorf("a join outlived the rollback: %v", err)
	}
	Must(t, leg.Transact(ctx, write))
	for i, id := range ids {
		got, err := p.Outbox.Get(ctx, id)
		Must(t, err)
		same(t, got.Message, msgs[i])
	}
	for i, want := range []timer.Status{timer.Scheduled, timer.Cancelled} {
		got, err := p.Timers.Get(ctx, timers[i])
		Must(t, err)
		if got.Status != want {
			t.Errorf("timer %d is %v", i, got.Status)
		}
	}
	info, err := p.Joins.Get(ctx, joined)
	Must(t, err)
	if info.GroupingKey != awkward || info.ExpectedSteps != 2 {
		t.Errorf("the join reads %+v", info)
	}
	again, err := p.Inbox.AlreadyProcessed(ctx, inbox.Key{Source: awkward[:20], MessageID: "1", Hash: []byte{0, 1, 255}})
	if err != nil || !again {
		t.Errorf("the inbox forgot: %v, %v", again, err)
	}
}

// messages are messages of all kinds.
func messages() []outbox.Message {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return []outbox.Message{
		{Topic: "plain"},
		{Topic: awkward, Payload: every, CorrelationID: awkward, Headers: map[string]string{"h": awkward}, Queue: "other", Priority: 7},
		{Topic: "later", Payload: []byte{}, Due: time.Date(2999, 12, 31, 23, 59, 59, 123456000, time.UTC)},
	}
}

func same(t *testing.T, got, want outbox.Message) {
	t.Helper()
	if got.Topic != want.Topic || string(got.Payload) != string(want.Payload) || got.CorrelationID != want.CorrelationID ||
		!reflect.DeepEqual(got.Headers, want.Headers) || !want.Due.IsZero() && !got.Due.Equal(want.Due) {
		t.Errorf("read back\n%+v, want\n%+v", got, want)
	}
}

// D-112: what is no transaction is refused.
func forgotten(t *testing.T, leg Leg) {
	p := newPawl(t, leg.DB, pawl.Options{})
	for what, tx := range leg.Outside {
		if _, err := p.Outbox.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t"}); !errors.Is(err, engine.ErrNotInTransaction) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if c, err := p.Outbox.Count(t.Context()); err != nil || c.Ready != 0 {
		t.Errorf("%d messages are stored, error %v", c.Ready, err)
	}
}

// D-10, OBX-099: a message of a known id is stored once, and an error of the database
// has its class, whichever driver reports it.
func known(t *testing.T, leg Leg) {
	p := newPawl(t, leg.DB, pawl.Options{})
	m := outbox.Message{ID: outbox.MessageID{1, 2, 3}, Topic: "t"}
	for range 2 {
		Must(t, leg.Transact(t.Context(), func(tx any) error {
			_, err := p.Outbox.EnqueueTx(t.Context(), tx, m)
			return err
		}))
	}
	if c, err := p.Outbox.Count(t.Context()); err != nil || c.Ready != 1 {
		t.Errorf("%d messages, error %v", c.Ready, err)
	}
	lo, err := leg.DB.ReserveIDs(t.Context(), nil, 1)
	Must(t, err)
	Must(t, leg.DB.Do(t.Context(), enginetest.Enqueue([]int64{lo}, nil)))
	err = leg.Transact(t.Context(), func(tx any) error {
		own, err := engine.TxOf(leg.DB, tx)
		Must(t, err)
		err = leg.DB.DoTx(t.Context(), own, enginetest.Enqueue([]int64{lo}, nil))
		enginetest.WantClass(t, err, engine.ErrUnique)
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		t.Errorf("after a statement that failed: %v", err)
	}
}

// Load runs a worker while producers write through the leg, several at once.
func Load(t *testing.T, leg Leg) {
	const producers, each = 4, 60
	handled := make(map[string]int)
	var mu sync.Mutex
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	p := newPawl(t, leg.DB, pawl.Options{})
	p.Handle("order", func(_ context.Context, m *outbox.Message) error {
		mu.Lock()
		defer mu.Unlock()
		handled[string(m.Payload)]++
		if len(handled) == producers*each {
			stop()
		}
		return nil
	})
	var wg sync.WaitGroup
	for i := range producers {
		wg.Go(func() {
			for k := range each {
				err := leg.Transact(ctx, func(tx any) error {
					_, err := p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "order", Payload: fmt.Appendf(nil, "%d/%d", i, k)})
					return err
				})
				if err != nil {
					t.Errorf("producer %d: %v", i, err)
					return
				}
			}
		})
	}
	Must(t, p.Run(ctx))
	wg.Wait()
	if len(handled) != producers*each {
		t.Errorf("%d of %d messages were handled", len(handled), producers*each)
	}
}

// End commits, or rolls back if something went wrong.
func End(tx interface {
	Commit() error
	Rollback() error
}, err error) error {
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
