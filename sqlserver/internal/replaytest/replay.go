// Package replaytest lets another database answer what pawl's engine for SQL Server
// asks: the requests go over the wire to a server of package tdstest, which reads the
// operations and their parameters out of them, has them done by the other database, and
// writes its answers as those of SQL Server.
//
// So the Go of the engine runs from end to end where there is no SQL Server, also beside
// other engines. What its statements say is not looked at, only which operation each of
// them is.
package replaytest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// Server is a server whose operations another database does. Each is done at once: a
// transaction that is rolled back leaves what was done in it.
type Server struct {
	*tdstest.Server
	t      testing.TB
	db     engine.DB
	texts  map[string]*engine.Statement
	schema schema

	mu    sync.Mutex
	block int64
}

// New starts a server. texts are the statements of the engine as it sends them; db does
// the operations.
func New(t testing.TB, texts map[string]*engine.Statement, db engine.DB) *Server {
	t.Helper()
	s := &Server{t: t, db: db, texts: texts}
	s.Server = tdstest.New(t, s.handle)
	return s
}

func (s *Server) handle(r *tdstest.Request) tdstest.Answer {
	if r.Kind != tdstest.Batch && r.Kind != tdstest.Call {
		return tdstest.Answer{}
	}
	if a, ok := s.own(r); ok {
		return a
	}
	asked, err := Decode(s.texts, r)
	if err == nil && len(asked) == 0 {
		err = errors.New("a request without an operation")
	}
	if err == nil {
		var a tdstest.Answer
		if a, err = s.do(r, asked); err == nil {
			return a
		}
	}
	s.t.Errorf("replaytest: %v: %s", err, r)
	return tdstest.Failed(50000, "not understood by the test's server")
}

// work is one operation that is done, and the result that it becomes.
type work struct {
	call   *engine.Call
	result tdstest.Result
	counts bool // it answers a number, or how many rows it changed
	look   bool // reads the generation, of which the other database has its own
}

// do has the other database do the operations of a batch, all or none.
func (s *Server) do(r *tdstest.Request, asked []Asked) (a tdstest.Answer, err error) {
	all, calls := make([]*work, len(asked)), []*engine.Call(nil)
	for i := range asked {
		if all[i], err = newWork(&asked[i]); err != nil {
			return a, err
		}
		if !all[i].look {
			calls = append(calls, all[i].call)
		}
	}
	if len(calls) > 0 {
		if err := s.db.Do(context.Background(), calls...); err != nil {
			return failed(err), nil
		}
	}
	if inCallers := r.Transaction != 0; inCallers { // what it answers is rows affected
		return tdstest.Answered(tdstest.Counted(all[0].call.N)), nil
	}
	for _, w := range all {
		a.Results = append(a.Results, w.answer())
	}
	if strings.Contains(r.SQL, "COMMIT TRANSACTION") {
		a.Results = append(a.Results, tdstest.Rows([]tdstest.Column{{Name: "committed", Type: tdstest.Int}}, []any{1}))
	}
	return a, nil
}

func newWork(a *Asked) (w *work, err error) {
	w = &work{call: engine.Ask(a.Operation)}
	_, w.look = a.Operation.(op.GenerationCheck)
	row := a.Statement.Row()
	w.counts = row == nil || row.Kind() != reflect.Struct
	if !w.counts {
		w.call.Reset = func() { w.result.Rows = nil }
		w.call.Each = func(r engine.Row) error {
			v := reflect.New(row).Elem()
			err := r.Scan(Dest(v)...)
			w.result.Rows = append(w.result.Rows, Values(v))
			return err
		}
	}
	w.result.Columns, err = Columns(a.Statement)
	return w, err
}

// answer is the result of an operation that was done.
func (w *work) answer() tdstest.Result {
	switch {
	case w.look:
		w.result.Rows = [][]any{sight}
	case w.counts:
		w.result.Rows = [][]any{{w.call.N}}
	}
	return w.result
}

// sight is the server's only generation.
var sight = []any{"replay", int64(1), nil}

// failed is an error of the other database as SQL Server would say it.
func failed(err error) tdstest.Answer {
	switch {
	case errors.Is(err, engine.ErrPosition):
		return tdstest.Failed(2627, "Violation of PRIMARY KEY constraint 'PK__1'. Cannot insert duplicate key in object 'pawl.outbox_message'.")
	case errors.Is(err, engine.ErrUnique):
		return tdstest.Failed(2601, "Cannot insert duplicate key row in object 'pawl.x' with unique index 'x'.")
	case errors.Is(err, engine.ErrReference):
		return tdstest.Failed(57120, err.Error())
	case errors.Is(err, engine.ErrBusy):
		return tdstest.Failed(1222, "Lock request time out period exceeded.")
	}
	return tdstest.Failed(50001, err.Error())
}
