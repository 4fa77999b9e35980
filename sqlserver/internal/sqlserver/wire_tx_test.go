package sqlserver_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// D-3, D-113: a call in a caller's transaction is one statement in it. Its settings stay as they are, but
// for the batch; its isolation level is looked at, not set.
func TestCallersTransactionOnTheWire(t *testing.T) {
	w := onWire(t, called(tdstest.Answered(tdstest.Counted(1))))
	tx, err := w.pool.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	enginetest.Must(t, err)
	call := extend()
	enginetest.Must(t, w.DoTx(t.Context(), tx, call))
	enginetest.Must(t, tx.Commit())
	if call.N != 1 || w.kinds() != "begin call commit" {
		t.Fatalf("changed %d, asked %q", call.N, w.kinds())
	}
	begin, r := w.requests()[0], w.requests()[1]
	if begin.Isolation != tdstest.RepeatableRead || r.Transaction == 0 || len(r.Params) != 4 {
		t.Errorf("level %d, transaction %d, %d parameters", begin.Isolation, r.Transaction, len(r.Params))
	}
	inOrder(t, r.SQL, "@@TRANCOUNT = 0", "THROW 57101", "transaction_isolation_level NOT IN (2, 3, 4)", "THROW 57100", "EXEC sys.sp_executesql", "SET NOCOUNT OFF", "UPDATE ")
	for _, word := range []string{"COMMIT TRAN", "ROLLBACK", "BEGIN TRAN", "SAVE TRAN", "XACT_ABORT", "SET TRANSACTION", "QUOTED_IDENTIFIER", "LOCK_TIMEOUT"} {
		if strings.Contains(r.SQL, word) {
			t.Errorf("%s in a caller's transaction: %s", word, r.SQL)
		}
	}
}

// D-113: a call without parameters leaves no setting behind: sent as a plain batch it would.
func TestNoParametersInACallersTransaction(t *testing.T) {
	w := onWire(t, called(tdstest.Answered(tdstest.Counted(0))))
	tx, err := w.pool.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	enginetest.Must(t, w.DoTx(t.Context(), tx, engine.Ask(op.JobSettle{})))
	enginetest.Must(t, tx.Commit())
	if w.kinds() != "begin call commit" {
		t.Errorf("asked %q", w.kinds())
	}
}

// D-826, D-3: in a caller's transaction an error counts whatever the server says behind it: that the statements behind
// it went through, or that the transaction is over.
func TestErrorsInTheMiddleOfACallersTransaction(t *testing.T) {
	goesOn := tdstest.Failed(2627, "Violation of UNIQUE KEY constraint 'k'. Cannot insert duplicate key in object 'pawl.lease'.")
	goesOn.Rest = []tdstest.Result{tdstest.Counted(1)}
	for name, c := range map[string]struct {
		answer tdstest.Answer
		class  error
	}{
		"the batch goes on": {goesOn, engine.ErrUnique},
		"doomed":            {tdstest.Doomed(1205, "Transaction was deadlocked."), engine.ErrDeadlock},
		"doomed by a lock":  {tdstest.Doomed(1222, "Lock request time out period exceeded."), engine.ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			w := onWire(t, called(c.answer))
			tx, err := w.pool.BeginTx(t.Context(), nil)
			enginetest.Must(t, err)
			defer func() { _ = tx.Rollback() }() // the server may have done so
			call := extend()
			err = w.DoTx(t.Context(), tx, call)
			enginetest.WantClass(t, err, c.class)
			if call.N != 0 {
				t.Errorf("%d rows are said to be changed", call.N)
			}
		})
	}
}

// A caller's SNAPSHOT transaction is refused, and a connection without a transaction.
func TestRefusedTransactionsOnTheWire(t *testing.T) {
	w := onWire(t, called(tdstest.Failed(57100, "this transaction is SNAPSHOT or READ UNCOMMITTED, and needs READ COMMITTED")))
	tx, err := w.pool.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSnapshot})
	enginetest.Must(t, err)
	err = w.DoTx(t.Context(), tx, extend())
	enginetest.WantClass(t, err, engine.ErrIsolation)
	if engine.Retryable(err) || w.kinds() != "begin call" {
		t.Errorf("asked %q, %v", w.kinds(), err)
	}
	enginetest.Must(t, tx.Rollback())

	w.now(called(tdstest.Failed(57101, "no transaction is open")))
	conn, err := w.pool.Conn(t.Context())
	enginetest.Must(t, err)
	defer conn.Close()
	if err := w.DoTx(t.Context(), conn, extend()); !errors.Is(err, engine.ErrNotInTransaction) {
		t.Error(err)
	}
	before := len(w.requests())
	if err := w.DoTx(t.Context(), w.pool, extend()); !errors.Is(err, engine.ErrNotInTransaction) || len(w.requests()) != before {
		t.Errorf("a pool: %v", err)
	}
}

// D-3: a deadlock ends the caller's transaction: it cannot be committed, and that it was
// not is certain.
func TestDeadlockInACallersTransaction(t *testing.T) {
	w := onWire(t, called(tdstest.Failed(1205, "deadlock victim")))
	tx, err := w.pool.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	enginetest.WantClass(t, w.DoTx(t.Context(), tx, extend()), engine.ErrDeadlock)
	if err := tx.Commit(); err == nil || w.kinds() != "begin call" {
		t.Errorf("asked %q, %v", w.kinds(), err)
	}
}

// D-4: what is cut in a caller's transaction is lost, not unknown: the commit was to come.
func TestCutInACallersTransaction(t *testing.T) {
	for _, at := range []tdstest.Cut{tdstest.Before, tdstest.Midway} {
		w := onWire(t, called(tdstest.Dropped(at, tdstest.Counted(1))))
		tx, err := w.pool.BeginTx(t.Context(), nil)
		enginetest.Must(t, err)
		enginetest.WantClass(t, w.DoTx(t.Context(), tx, extend()), engine.ErrConnLost)
		if err := tx.Commit(); err == nil {
			t.Error("it was committed")
		}
	}
}

// D-4: a call in a caller's transaction that is cancelled is cancelled at the server, and
// leaves the transaction to its caller.
func TestCancelledInACallersTransaction(t *testing.T) {
	asked := make(chan struct{})
	w := onWire(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Call {
			close(asked)
			return tdstest.Answer{Until: make(chan struct{})}
		}
		return tdstest.Answer{}
	})
	tx, err := w.pool.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	err = w.DoTx(ctx, tx, extend())
	if !errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrCommitUnknown) || w.server.Cancellations() != 1 {
		t.Errorf("%d cancellations, %v", w.server.Cancellations(), err)
	}
	enginetest.Must(t, tx.Rollback())
	if w.kinds() != "begin call rollback" {
		t.Errorf("asked %q", w.kinds())
	}
}

// D-113: InTx begins at read committed, and commits or rolls back.
func TestInTxOnTheWire(t *testing.T) {
	w := onWire(t, called(tdstest.Answered(tdstest.Counted(1))))
	work := func(ctx context.Context, tx engine.Tx) error { return w.DoTx(ctx, tx, extend()) }
	enginetest.Must(t, w.InTx(t.Context(), work))
	if w.kinds() != "begin call commit" || w.requests()[0].Isolation != tdstest.ReadCommitted {
		t.Errorf("asked %q, at level %d", w.kinds(), w.requests()[0].Isolation)
	}
	mine := errors.New("mine")
	if err := w.InTx(t.Context(), func(context.Context, engine.Tx) error { return mine }); !errors.Is(err, mine) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := w.InTx(ctx, func(context.Context, engine.Tx) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = w.InTx(t.Context(), func(context.Context, engine.Tx) error { panic("mine") })
	}()
	if got := w.kinds(); got != "begin call commit begin rollback begin rollback begin rollback" {
		t.Errorf("asked %q", got)
	}
}

// D-4: InTx whose connection is cut at the commit does not know; one whose connection is
// cut before knows that nothing happened.
func TestCutAtTheCommitOfInTx(t *testing.T) {
	for _, at := range []tdstest.Cut{tdstest.Before, tdstest.Midway} {
		for kind, class := range map[tdstest.Kind]error{tdstest.Commit: engine.ErrCommitUnknown, tdstest.Begin: engine.ErrConnLost} {
			runs := 0
			w := onWire(t, func(r *tdstest.Request) tdstest.Answer {
				if r.Kind == kind {
					return tdstest.Dropped(at)
				}
				return tdstest.Answered(tdstest.Counted(1))
			})
			err := w.InTx(t.Context(), func(ctx context.Context, tx engine.Tx) error {
				runs++
				return w.DoTx(ctx, tx, extend())
			})
			enginetest.WantClass(t, err, class)
			if kind == tdstest.Commit && (runs != 1 || w.kinds() != "begin call commit") || kind == tdstest.Begin && runs != 0 {
				t.Errorf("cut at %s: ran %d times, asked %q", kind, runs, w.kinds())
			}
		}
	}
}

// D-4: an error of the server at the commit is known: nothing happened.
func TestErrorAtTheCommitOfInTx(t *testing.T) {
	w := onWire(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Commit {
			a := tdstest.Failed(3960, "Snapshot isolation transaction aborted due to update conflict.")
			return a
		}
		return tdstest.Answer{}
	})
	err := w.InTx(t.Context(), func(context.Context, engine.Tx) error { return nil })
	enginetest.WantClass(t, err, engine.ErrSerialization)
	if errors.Is(err, engine.ErrCommitUnknown) {
		t.Error(err)
	}
}
