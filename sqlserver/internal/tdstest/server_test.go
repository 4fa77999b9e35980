package tdstest_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// open returns a pool with one connection, so that a test knows which one it uses.
func open(t testing.TB, s *tdstest.Server) *sql.DB {
	t.Helper()
	pool, err := sql.Open("sqlserver", s.URL())
	must(t, err)
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixed answers every request but logins and transactions the same.
func fixed(a tdstest.Answer) tdstest.Handler {
	return func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Batch || r.Kind == tdstest.Call {
			return a
		}
		return tdstest.Answer{}
	}
}

func TestLogin(t *testing.T) {
	who := make(chan tdstest.Identity, 1)
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Login {
			who <- *r.Identity
		}
		return tdstest.Answer{}
	})
	must(t, open(t, s).Ping())
	if i := <-who; i.User != "tester" || i.Password != "secret" || i.Database != "test" || i.TDSVersion != 0x74000004 {
		t.Errorf("%+v", i)
	}
	if s.Opened() != 1 || s.Open() != 1 {
		t.Errorf("%d connections were made, %d are open", s.Opened(), s.Open())
	}
}

func TestLoginRefused(t *testing.T) {
	s := tdstest.New(t, func(*tdstest.Request) tdstest.Answer { return tdstest.Failed(18456, "Login failed for user 'tester'.") })
	wantNumber(t, open(t, s).Ping(), 18456)
	s.Refuse(true)
	if err := open(t, s).Ping(); err == nil {
		t.Error("a connection that was refused")
	}
}

func wantNumber(t testing.TB, err error, number int32) {
	t.Helper()
	var e mssql.Error
	if !errors.As(err, &e) || e.Number != number {
		t.Errorf("want error %d, got %v", number, err)
	}
}

func TestErrorOfTheServer(t *testing.T) {
	a := tdstest.Answered(tdstest.Counted(1))
	a.Err = &tdstest.Error{Number: 2627, State: 3, Class: 14, Message: "Violation of UNIQUE KEY constraint 'k'.", Procedure: "p", Line: 7}
	pool := open(t, tdstest.New(t, fixed(a)))
	for _, query := range []string{"INSERT t DEFAULT VALUES", "pawl.insert_it"} {
		_, err := pool.Exec(query, argument(query)...)
		var e mssql.Error
		if !errors.As(err, &e) || e.Number != 2627 || e.State != 3 || e.Class != 14 || e.ProcName != "p" || e.LineNo != 7 || !strings.Contains(e.Message, "'k'") {
			t.Errorf("%s: %+v", query, err)
		}
	}
}

// argument is one for procedures, which is what a driver calls only with arguments or a name alone.
func argument(query string) []any {
	if strings.Contains(query, " ") {
		return nil
	}
	return []any{sql.Named("id", int64(1))}
}

func TestTransactions(t *testing.T) {
	var got []tdstest.Request
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind != tdstest.Login {
			got = append(got, tdstest.Request{Kind: r.Kind, Transaction: r.Transaction, Isolation: r.Isolation})
		}
		return tdstest.Answer{}
	})
	pool := open(t, s)
	for _, level := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadCommitted, sql.LevelSnapshot} {
		tx, err := pool.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
		must(t, err)
		_, err = tx.Exec("DELETE t")
		must(t, err)
		if level == sql.LevelDefault {
			must(t, tx.Rollback())
		} else {
			must(t, tx.Commit())
		}
	}
	var want []tdstest.Request
	for i, level := range []tdstest.Isolation{tdstest.CurrentLevel, tdstest.ReadCommitted, tdstest.Snapshot} {
		end := tdstest.Commit
		if i == 0 {
			end = tdstest.Rollback
		}
		tran := uint64(i + 1)
		want = append(want, tdstest.Request{Kind: tdstest.Begin, Isolation: level}, tdstest.Request{Kind: tdstest.Batch, Transaction: tran}, tdstest.Request{Kind: end, Transaction: tran})
	}
	if !slices.EqualFunc(got, want, func(a, b tdstest.Request) bool {
		return a.Kind == b.Kind && a.Transaction == b.Transaction && a.Isolation == b.Isolation
	}) {
		t.Errorf("got %+v", got)
	}
}

// A deadlock ends the transaction: a driver that is told so does not commit.
func TestDeadlockEndsTheTransaction(t *testing.T) {
	var commits int
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		switch r.Kind {
		case tdstest.Batch:
			return tdstest.Failed(1205, "chosen as the deadlock victim")
		case tdstest.Commit:
			commits++
		}
		return tdstest.Answer{}
	})
	tx, err := open(t, s).Begin()
	must(t, err)
	_, err = tx.Exec("DELETE t")
	wantNumber(t, err, 1205)
	if err := tx.Commit(); err == nil || commits > 0 {
		t.Errorf("%d commits, %v", commits, err)
	}
}

// A pool tells the server to make the session of a connection like new.
func TestReset(t *testing.T) {
	var resets []bool
	pool := open(t, tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		resets = append(resets, r.Reset)
		return tdstest.Answer{}
	}))
	for range 2 {
		_, err := pool.Exec("DELETE t")
		must(t, err)
	}
	if !slices.Equal(resets, []bool{false, true, true}) { // the login, and two batches
		t.Errorf("resets: %v", resets)
	}
}

// D-826: a session that is made like new has no transaction of who had it before.
func TestResetRollsBack(t *testing.T) {
	var within []bool
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		within = append(within, r.Transaction != 0)
		if strings.HasPrefix(r.SQL, "BEGIN") {
			return tdstest.Answer{Transaction: tdstest.Begun}
		}
		return tdstest.Answer{}
	})
	pool := open(t, s)
	conn, err := pool.Conn(t.Context())
	must(t, err)
	for _, text := range []string{"BEGIN TRANSACTION", "DELETE t"} {
		_, err := conn.ExecContext(t.Context(), text)
		must(t, err)
	}
	must(t, conn.Close())
	for range 2 {
		_, err := pool.Exec("DELETE t")
		must(t, err)
	}
	if !slices.Equal(within, []bool{false, false, true, true, false}) { // the request that resets is sent in what is over behind it
		t.Errorf("in a transaction: %v", within)
	}
}

// D-826: an error between statements that were carried out is an error, whatever comes behind it.
func TestErrorInTheMiddle(t *testing.T) {
	a := tdstest.Failed(2627, "duplicate")
	a.Results, a.Rest = []tdstest.Result{tdstest.Counted(2)}, []tdstest.Result{tdstest.Counted(3)}
	for _, args := range [][]any{nil, {sql.Named("n", 1)}} {
		pool := open(t, tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
			if r.Kind == tdstest.Login {
				return tdstest.Answer{}
			}
			return a
		}))
		_, err := pool.Exec("INSERT t; INSERT t; INSERT t", args...)
		wantNumber(t, err, 2627)
	}
}

func TestCancellation(t *testing.T) {
	never := make(chan struct{})
	asked := make(chan struct{})
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Call {
			close(asked)
			return tdstest.Answer{Until: never}
		}
		return tdstest.Answer{}
	})
	pool := open(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := pool.ExecContext(ctx, "DELETE t", sql.Named("n", 1))
	if !errors.Is(err, context.Canceled) || s.Cancellations() != 1 {
		t.Errorf("%d cancellations, %v", s.Cancellations(), err)
	}
	must(t, pool.Ping())
	if s.Opened() != 1 {
		t.Errorf("%d connections were made: a cancelled request ended one", s.Opened())
	}
}

func TestDelay(t *testing.T) {
	release := make(chan struct{})
	a := tdstest.Answered(tdstest.Counted(3))
	a.Until = release
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind != tdstest.Batch {
			return tdstest.Answer{}
		}
		defer close(release)
		return a
	})
	res, err := open(t, s).Exec("DELETE t")
	must(t, err)
	if n, _ := res.RowsAffected(); n != 3 {
		t.Errorf("%d rows", n)
	}
}

func TestCuts(t *testing.T) {
	for name, at := range map[string]tdstest.Cut{"before the answer": tdstest.Before, "in the middle": tdstest.Midway, "behind it": tdstest.After} {
		t.Run(name, func(t *testing.T) {
			answer := tdstest.Dropped(at, tdstest.Rows([]tdstest.Column{{Name: "n", Type: tdstest.BigInt}}, []any{1}, []any{2}))
			pool := open(t, tdstest.New(t, fixed(answer)))
			var n int64
			err := pool.QueryRow("SELECT n FROM t").Scan(&n)
			if (err == nil) != (at == tdstest.After) {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
}

func TestCutAtTheCommit(t *testing.T) {
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind == tdstest.Commit {
			return tdstest.Dropped(tdstest.Before)
		}
		return tdstest.Answer{}
	})
	tx, err := open(t, s).Begin()
	must(t, err)
	if err := tx.Commit(); err == nil {
		t.Error("a commit without an answer succeeded")
	}
}

// Nothing of a server is left behind, whatever it was doing.
func TestEndsWithItsTest(t *testing.T) {
	before := enginetest.Running()
	t.Run("busy", func(t *testing.T) {
		asked := make(chan struct{})
		s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
			switch r.Kind {
			case tdstest.Batch:
				close(asked)
				return tdstest.Answer{Silent: true}
			case tdstest.Call:
				return tdstest.Answer{Until: make(chan struct{})}
			}
			return tdstest.Answer{}
		})
		done := make(chan error, 1)
		pool := open(t, s)
		go func() { _, err := pool.Exec("DELETE t"); done <- err }()
		<-asked
		s.Cut()
		if err := <-done; err == nil {
			t.Error("a request without an answer succeeded")
		}
	})
	if left := before.Left(); left != "" {
		t.Error(left)
	}
}
