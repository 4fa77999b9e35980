package sqlserver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/sqlserver"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// classes are the classes of the server's errors, and whether pawl tries again by itself.
var classes = []struct {
	number int32
	text   string
	class  error
	again  bool
}{
	{1205, "Transaction (Process ID 60) was deadlocked on lock resources with another process and has been chosen as the deadlock victim.", engine.ErrDeadlock, true},
	{601, "Could not continue scan with NOLOCK due to data movement.", engine.ErrBusy, true},
	{1222, "Lock request time out period exceeded.", engine.ErrBusy, true},
	{3960, "Snapshot isolation transaction aborted due to update conflict.", engine.ErrSerialization, true},
	{2627, "Violation of UNIQUE KEY constraint 'k'. Cannot insert duplicate key in object 'pawl.lease'. The duplicate key value is (top secret).", engine.ErrUnique, false},
	{2627, "Violation of PRIMARY KEY constraint 'PK__o'. Cannot insert duplicate key in object 'pawl.outbox_message'. The duplicate key value is (17).", engine.ErrPosition, false},
	{2601, "Cannot insert duplicate key row in object 'pawl.timer' with unique index 'key'. The duplicate key value is (top secret).", engine.ErrUnique, false},
	{2601, "Cannot insert duplicate key row in object 'pawl.outbox_ready' with unique index 'lo'. The duplicate key value is (17).", engine.ErrPosition, false},
	{547, `The INSERT statement conflicted with the FOREIGN KEY constraint "FK__outbox_jo__join___5812160E".`, engine.ErrReference, false},
	{547, `Die INSERT-Anweisung steht in Konflikt mit der FOREIGN KEY-Einschränkung "FK__outbox_jo__join___5812160E".`, engine.ErrReference, false},
	{547, `The INSERT statement conflicted with the CHECK constraint "CK__outbox_ready__n__5812160E".`, nil, false},
	// The same in other languages, which quote in other ways, and name the value first.
	{2627, "Verletzung der UNIQUE KEY-Einschränkung \"k\". Ein doppelter Schlüssel kann in das pawl.lease-Objekt nicht eingefügt werden. Der doppelte Schlüsselwert ist (top secret).", engine.ErrUnique, false},
	{2627, "Violation de la contrainte PRIMARY KEY « PK__o ». Impossible d'insérer une clé en double dans l'objet « pawl.x_outbox_message ». Valeur de clé dupliquée : (17).", engine.ErrPosition, false},
	{2601, "オブジェクト 'pawl.outbox_ready' に固有インデックス 'lo' を含む重複キー行は挿入できません。重複するキーの値は (top secret) です。", engine.ErrPosition, false},
	{2601, "Cannot insert duplicate key row in object 'pawl.job' with unique index 'name'. The duplicate key value is (top secret 'pawl.outbox_ready').", engine.ErrUnique, false},
	{1204, "The instance of the SQL Server Database Engine cannot obtain a LOCK resource at this time.", engine.ErrBusy, true},
	{701, "There is insufficient system memory in resource pool 'default' to run this query.", engine.ErrBusy, true},
	{8645, "A timeout occurred while waiting for memory resources to execute the query.", engine.ErrBusy, true},
	{9002, "The transaction log for database 'test' is full.", engine.ErrBusy, true},
	{1105, "Could not allocate space for object 'pawl.outbox_message' in database 'test' because the 'PRIMARY' filegroup is full.", engine.ErrNoRoom, false},
	{40143, "The service has encountered an error processing your request.", engine.ErrUnreachable, false},
	{40540, "The service has encountered an error processing your request.", engine.ErrUnreachable, false},
	{4221, "Login to read-secondary failed due to long wait.", engine.ErrUnreachable, false},
	{42108, "Can not connect to the SQL pool since it is paused.", engine.ErrUnreachable, false},
	{42109, "The SQL pool is warming up.", engine.ErrUnreachable, false},
	{18401, "Login failed for user 'x'. Reason: Server is in script upgrade mode.", engine.ErrUnreachable, false},
	{57120, "no such join", engine.ErrReference, false},
	{57100, "this transaction is SNAPSHOT", engine.ErrIsolation, false},
	{3906, `Failed to update database "test" because the database is read-only.`, engine.ErrReadOnly, false},
	{208, "Invalid object name 'pawl.inbox'.", engine.ErrSchemaMissing, false},
	{2812, "Could not find stored procedure 'pawl.outbox_claim'.", engine.ErrSchemaMissing, false},
	{10928, "Resource ID : 1. The request limit for the database is 60 and has been reached.", engine.ErrBusy, true},
	{10929, "Resource ID : 1. The minimum guarantee is 0.", engine.ErrBusy, true},
	{40501, "The service is currently busy. Retry the request after 10 seconds.", engine.ErrBusy, true},
	{49918, "Cannot process request. Not enough resources to process request.", engine.ErrBusy, true},
	{49919, "Cannot process create or update request.", engine.ErrBusy, true},
	{49920, "Cannot process request. Too many operations in progress for subscription.", engine.ErrBusy, true},
	{40613, "Database 'test' on server 'x' is not currently available.", engine.ErrUnreachable, false},
	{229, "The EXECUTE permission was denied on the object 'outbox_claim'.", nil, false},
	{8114, "Error converting data type nvarchar (top secret) to bigint.", nil, false},
}

// D-3, D-5: the server's errors have their classes, in a transaction of pawl's own and in
// a caller's; those that pass are tried again in pawl's own, and no text quotes a value.
func TestErrorClasses(t *testing.T) {
	for _, c := range classes {
		t.Run(fmt.Sprintf("%d %s", c.number, c.class), func(t *testing.T) {
			t.Parallel()
			failing := tdstest.Failed(c.number, c.text)
			failing.Cut = tdstest.NoCut // whether the connection is kept does not matter here
			w := onWire(t, called(failing))
			err := w.do(extend())
			wantFailure(t, err, c.class, c.number)
			want := 1
			if c.again {
				want = engine.MaxAttempts
			}
			attempts := slices.DeleteFunc(w.requests(), func(r *tdstest.Request) bool { return strings.Contains(r.SQL, "generation_look") }) // in the background
			if n := len(attempts); n != want {
				t.Errorf("%d attempts, want %d", n, want)
			}
			tx, err := w.pool.BeginTx(t.Context(), nil)
			enginetest.Must(t, err)
			defer tx.Rollback()
			before := len(w.requests())
			wantFailure(t, w.DoTx(t.Context(), tx, extend()), c.class, c.number)
			if n := len(w.requests()) - before; n != 1 {
				t.Errorf("%d attempts in a caller's transaction", n)
			}
		})
	}
}

func wantFailure(t testing.TB, err, class error, number int32) {
	t.Helper()
	var e *engine.Error
	if !errors.As(err, &e) || !errors.Is(e.Class, class) || e.Op != "inbox/extend" {
		t.Errorf("want an engine error of class %v, got %T: %v", class, err, err)
	}
	var own interface{ SQLErrorNumber() int32 }
	if !errors.As(err, &own) || own.SQLErrorNumber() != number {
		t.Errorf("the driver's error is not reachable: %v", err)
	}
	if err != nil && (strings.Contains(err.Error(), "top secret") || strings.Contains(err.Error(), "(17)")) {
		t.Errorf("the error quotes a value: %v", err)
	}
}

// D-3: what failed for a passing reason and then succeeds is done once.
func TestPassingErrorIsTriedAgain(t *testing.T) {
	failures := 2
	w := onWire(t, func(*tdstest.Request) tdstest.Answer {
		if failures--; failures >= 0 {
			return tdstest.Failed(1205, "deadlock victim")
		}
		return changes(1)
	})
	call := extend()
	enginetest.Must(t, w.do(call))
	if call.N != 1 || len(w.requests()) != 3 {
		t.Errorf("changed %d in %d attempts", call.N, len(w.requests()))
	}
}

// cuts are the ways in which a connection ends at an answer.
var cuts = map[string]tdstest.Answer{
	"before the answer":    tdstest.Dropped(tdstest.Before),
	"in the middle of it":  tdstest.Dropped(tdstest.Midway, changes(1).Results...),
	"an answer ends early": tdstest.Answered(tdstest.Rows(changed, []any{1})),
}

// D-4: a connection that ends while a transaction of pawl's own is under way leaves
// unknown whether it was committed, and pawl does not send it again. A read changed nothing.
func TestCutIsUnknown(t *testing.T) {
	for name, cut := range cuts {
		t.Run(name, func(t *testing.T) {
			w := onWire(t, always(cut))
			enginetest.WantClass(t, w.do(extend()), engine.ErrCommitUnknown)
			if n := len(w.requests()); n != 1 {
				t.Errorf("%d attempts", n)
			}
			w = onWire(t, always(cut))
			err := w.Read(t.Context(), extend())
			enginetest.WantClass(t, err, engine.ErrConnLost)
			if errors.Is(err, engine.ErrCommitUnknown) || len(w.requests()) != 1 {
				t.Errorf("%d attempts, %v", len(w.requests()), err)
			}
			w.now(always(changes(1)))
			enginetest.Must(t, w.do(extend())) // over another connection
		})
	}
}

// D-3, D-4: an error behind which the server ends the connection is its answer: nothing was
// committed. What is tried again goes over another connection.
func TestFatalErrorIsAnAnswer(t *testing.T) {
	fatal := tdstest.Failed(40501, "The service is currently busy.")
	w := onWire(t, func(*tdstest.Request) tdstest.Answer { return fatal })
	enginetest.WantClass(t, w.do(extend()), engine.ErrBusy)
	if n := len(w.requests()); n != engine.MaxAttempts {
		t.Errorf("%d attempts", n)
	}
}

// D-3: so is one in a transaction: the next one gets another connection.
func TestFatalErrorInTx(t *testing.T) {
	answer := tdstest.Failed(40501, "The service is currently busy.")
	w := onWire(t, called(answer))
	work := func(ctx context.Context, tx engine.Tx) error { return w.DoTx(ctx, tx, extend()) }
	enginetest.WantClass(t, w.InTx(t.Context(), work), engine.ErrBusy)
	w.now(called(tdstest.Answered(tdstest.Counted(1))))
	enginetest.Must(t, w.InTx(t.Context(), work))
	if n := w.server.Opened(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// D-4: a connection that ended while it lay idle is noticed before anything is sent over
// it, and nothing is unknown.
func TestConnectionThatEndedIdle(t *testing.T) {
	var pings atomic.Int64
	w := onWire(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Batch {
			pings.Add(1)
			return tdstest.Answer{}
		}
		return changes(1)
	}, doubtful)
	for range 3 {
		enginetest.Must(t, w.do(extend()))
		w.server.Cut()
	}
	if w.server.Opened() != 3 || len(w.requests()) != 3 || pings.Load() != 0 {
		t.Errorf("%d connections, asked %q", w.server.Opened(), w.kinds())
	}
	enginetest.Must(t, w.do(extend()))
	enginetest.Must(t, w.do(extend()))
	if w.server.Opened() != 4 || pings.Load() != 1 {
		t.Errorf("%d connections, asked %d times, %q", w.server.Opened(), pings.Load(), w.kinds())
	}
}

// D-4: a call that is cancelled under way and can finish within its grace does.
func TestCancelledWithinItsGrace(t *testing.T) {
	release, asked := make(chan struct{}), make(chan struct{})
	a := changes(1)
	a.Until = release
	w := onWire(t, func(*tdstest.Request) tdstest.Answer { close(asked); return a })
	ctx, cancel := context.WithCancel(t.Context())
	call, done := extend(), make(chan error, 1)
	go func() { done <- w.Do(ctx, call) }()
	<-asked
	cancel()
	close(release)
	if err := <-done; err != nil || call.N != 1 || w.server.Cancellations() != 0 {
		t.Errorf("changed %d, %d cancellations, %v", call.N, w.server.Cancellations(), err)
	}
}

// D-4, D-6: a call that does not finish in time is cancelled at the server and then
// unknown; afterwards all is well again.
func TestDeadlineCancelsAtTheServer(t *testing.T) {
	w := onWire(t, always(changes(1)), func(o *wireOptions) { o.StatementTimeout = time.Second })
	enginetest.Until(t, "it is connected", func() bool { return w.do(extend()) == nil })
	w.now(func(*tdstest.Request) tdstest.Answer { return tdstest.Answer{Until: make(chan struct{})} })
	enginetest.WantClass(t, w.do(extend()), engine.ErrCommitUnknown)
	if n := w.server.Cancellations(); n != 1 {
		t.Errorf("%d cancellations", n)
	}
	w.now(always(changes(1)))
	enginetest.Until(t, "all is well again", func() bool { return w.do(extend()) == nil })
}

// D-4: a read that is cancelled ends at once, at the server too, and is no lost commit.
func TestCancelledReadOnTheWire(t *testing.T) {
	asked := make(chan struct{})
	w := onWire(t, func(*tdstest.Request) tdstest.Answer { close(asked); return tdstest.Answer{Until: make(chan struct{})} })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	var now []op.Clock
	err := w.Read(ctx, engine.List(op.ClockNow{}, &now))
	if !errors.Is(err, context.Canceled) || errors.Is(err, engine.ErrCommitUnknown) || w.server.Cancellations() != 1 {
		t.Errorf("%d cancellations, %v", w.server.Cancellations(), err)
	}
}

// D-5, D-6: a server that takes no connection is unreachable, and no error holds the password.
func TestUnreachableOnTheWire(t *testing.T) {
	for number, class := range map[int32]error{18456: engine.ErrUnreachable, 4060: engine.ErrUnreachable, 40613: engine.ErrNotReady, 10928: engine.ErrBusy} {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			s := tdstest.New(t, func(*tdstest.Request) tdstest.Answer {
				return tdstest.Failed(number, "Login failed for user 'tester' with password 'secret'.")
			})
			db, err := sqlserver.Open(s.URL())
			enginetest.Must(t, err)
			t.Cleanup(func() { _ = db.Close() })
			err = db.Do(t.Context(), extend())
			enginetest.WantClass(t, err, class)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the password is in the error: %v", err)
			}
			_, err = db.ReserveIDs(t.Context(), nil, 1)
			enginetest.WantClass(t, err, class)
		})
	}
	s := tdstest.New(t, nil)
	s.Refuse(true)
	db, err := sqlserver.Open(s.URL())
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	enginetest.WantClass(t, db.Do(t.Context(), extend()), engine.ErrUnreachable)
	enginetest.WantClass(t, db.CheckSchema(t.Context()), engine.ErrUnreachable)
	enginetest.WantClass(t, db.Migrate(t.Context()), engine.ErrUnreachable)
}
