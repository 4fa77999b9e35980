package anydriver

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// slot is a connection of the pool that pawl keeps, with its prepared statements: preparing
// costs more than most statements do.
type slot struct {
	pool  *sql.DB
	guard *guard

	mu     sync.Mutex
	conn   *sql.Conn
	ses    *session
	open   *openFiles // of a connection that this package did not make
	closed bool
}

// use runs fn on the slot's connection, which it opens first if necessary and closes if it
// broke.
func (s *slot) use(ctx context.Context, fn func(*session) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.useLocked(ctx, fn)
}

// try is use, unless the slot is in use.
func (s *slot) try(ctx context.Context, fn func(*session) error) (tried bool, err error) {
	if !s.mu.TryLock() {
		return false, nil
	}
	defer s.mu.Unlock()
	return true, s.useLocked(ctx, fn)
}

func (s *slot) useLocked(ctx context.Context, fn func(*session) error) error {
	if s.closed {
		return engine.ErrClosed
	}
	if s.conn == nil {
		if ctx.Value(purposeKey{}) == nil {
			ctx = context.WithValue(ctx, purposeKey{}, toUse)
		}
		conn, err := s.pool.Conn(ctx)
		if err != nil {
			return s.lost(errors.Join(engine.ErrUnreachable, err))
		}
		s.conn = conn
	}
	var inner error
	err := s.conn.Raw(func(dc any) error {
		if s.ses == nil {
			s.ses = newSession(dc)
			inner = s.enter(ctx, dc)
		}
		if inner == nil {
			inner = fn(s.ses)
		}
		return nil // after an error database/sql would close the connection
	})
	if err == nil {
		err = inner
	}
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		s.drop()
	}
	return s.lost(err)
}

func (s *slot) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn != nil
}

// lost returns the error of a changed file in place of a disk error, if the file changed
// since it was checked.
func (s *slot) lost(err error) error {
	const primary = 0xff
	code, _ := driverr.ResultCode(err)
	if code &= primary; code == codeIOErr || code == codeCantOpen {
		if lost := s.guard.check(); lost != nil {
			return lost
		}
	}
	return err
}

// enter registers a connection of a pool with the guard if this package did not make it.
func (s *slot) enter(ctx context.Context, dc any) (err error) {
	if _, ours := dc.(*conn); !ours && s.ses.dc != nil {
		s.open, err = s.guard.enter(ctx, s.ses)
	}
	return err
}

// lose closes the connection once it is not in use.
func (s *slot) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
}

// close waits for what is under way.
func (s *slot) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.drop()
}

func (s *slot) drop() {
	if s.conn == nil {
		return
	}
	if s.ses != nil {
		_ = s.conn.Raw(func(any) error { s.ses.close(); return nil })
	}
	if s.open != nil {
		defer s.guard.leave(s.open)()
	}
	_ = s.conn.Close()
	s.conn, s.ses, s.open = nil, nil, nil
}

// session runs statements on one driver connection. Without database/sql it saves that
// package's locks and conversions on every one of the many short statements of an operation.
type session struct {
	ctx         context.Context // of the current call
	dc          dbConn
	reusesBytes bool // see the function
	stmts       map[string]statement
	args        []driver.NamedValue

	generationChecked bool // its generation was checked
}

type dbConn interface {
	driver.ConnPrepareContext
	driver.ExecerContext
}

func newSession(dc any) *session {
	if c, ok := dc.(*conn); ok {
		dc = c.rawConn
	}
	c, _ := dc.(dbConn)
	return &session{ctx: context.Background(), dc: c, reusesBytes: reusesBytes(dc), stmts: map[string]statement{}}
}

// reusesBytes reports whether a driver may reuse the bytes of a row for the next row, as
// driver.Rows allows and ncruces does. Two drivers are known to allocate new ones, which need
// no copy.
func reusesBytes(dc any) bool {
	t := reflect.TypeOf(dc)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t == nil || t.PkgPath() != "modernc.org/sqlite" && t.PkgPath() != "github.com/mattn/go-sqlite3"
}

func (s *session) close() {
	for _, st := range s.stmts {
		_ = st.Close()
	}
	clear(s.stmts)
}

// statement is a driver's prepared statement with context support.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func (s *session) prepare(query string) (statement, error) {
	if st, ok := s.stmts[query]; ok {
		return st, nil
	}
	if s.dc == nil {
		return nil, errors.New("sqlite: the driver lacks context support")
	}
	prepared, err := s.dc.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	st, ok := prepared.(statement)
	if !ok {
		return nil, errors.Join(errors.New("sqlite: the driver's statements lack context support"), prepared.Close())
	}
	s.stmts[query] = st
	return st, nil
}

// bind converts the arguments; the slice is reused by the next statement. Every statement
// gets the time as its first argument, and some drivers refuse an argument for a statement
// without parameters.
func (s *session) bind(st statement, args []any) ([]driver.NamedValue, error) {
	if n := st.NumInput(); n >= 0 {
		args = args[:min(n, len(args))]
	}
	s.args = s.args[:0]
	for i, a := range args {
		v, err := value(a)
		if err != nil {
			return nil, err
		}
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return s.args, nil
}

func (s *session) exec(query string, args []any) (sql.Result, error) {
	st, err := s.prepare(query)
	if err != nil {
		return nil, err
	}
	vals, err := s.bind(st, args)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(s.ctx, vals)
}

func (s *session) query(query string, args []any, each func(engine.Row) error) error {
	st, err := s.prepare(query)
	if err != nil {
		return err
	}
	vals, err := s.bind(st, args)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(s.ctx, vals)
	if err != nil {
		return err
	}
	err = s.drain(rows, each)
	return errors.Join(err, rows.Close())
}

// errStop ends a query early without being an error.
var errStop = errors.New("stop")

// drain reads the rows and checks the deadline itself: drivers do so only for the first row.
func (s *session) drain(rows driver.Rows, each func(engine.Row) error) error {
	r := &tableRow{names: rows.Columns()}
	r.row = make(row, len(r.names))
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		err := rows.Next(r.row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if each == nil {
			continue
		}
		if s.reusesBytes {
			r.keep()
		}
		if err := each(r); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// value converts an argument to one of SQLite's types. Times and durations are microseconds:
// a time.Time would be stored as text, in one of three formats.
func value(a any) (driver.Value, error) {
	switch v := a.(type) {
	case nil, int64, string, bool, float64:
		return v, nil
	case []byte:
		if v == nil {
			return nil, nil // some drivers treat it as empty
		}
		return v, nil
	case int:
		return int64(v), nil
	case time.Time:
		return v.UnixMicro(), nil
	case time.Duration:
		return v.Microseconds(), nil
	case [16]byte:
		return v[:], nil
	case *int64:
		return deref(v)
	case *int:
		return deref(v)
	case *string:
		return deref(v)
	case *time.Time:
		return deref(v)
	case *time.Duration:
		return deref(v)
	case *[16]byte:
		return deref(v)
	}
	return list(a)
}

// deref returns the value of a pointer, nil for nil.
func deref[T any](v *T) (driver.Value, error) {
	if v == nil {
		return nil, nil
	}
	return value(*v)
}

// list returns values as JSON for json_each; nil is null.
func list(a any) (driver.Value, error) {
	none := false
	switch v := a.(type) {
	case []string:
		none = v == nil
	case []int64:
		none = v == nil
	case []op.Span:
		none = v == nil
	default:
		return nil, fmt.Errorf("sqlite: cannot bind %T", a)
	}
	if none {
		return nil, nil
	}
	text, err := json.Marshal(a)
	return string(text), err
}

// row is one row of a result.
type row []driver.Value

// keep replaces the driver's bytes by copies.
func (r row) keep() {
	for i, v := range r {
		if b, ok := v.([]byte); ok {
			r[i] = bytes.Clone(b)
		}
	}
}

// Scan copies the columns into dest, as far as they can be converted.
func (r row) Scan(dest ...any) error {
	return r.scan(dest, func(i int) string { return strconv.Itoa(i) })
}

func (r row) scan(dest []any, name func(i int) string) error {
	if len(dest) != len(r) {
		return fmt.Errorf("sqlite: scan %d columns into %d", len(r), len(dest))
	}
	var faults error
	for i, d := range dest {
		if err := assign(d, r[i]); err != nil {
			faults = errors.Join(faults, fmt.Errorf("column %s: %w", name(i), err))
		}
	}
	return faults
}

// tableRow is a row whose columns have names.
type tableRow struct {
	row
	names []string
}

// Scan is row.Scan.
func (r *tableRow) Scan(dest ...any) error {
	return r.scan(dest, func(i int) string { return r.names[i] })
}

func assign(dest any, v driver.Value) error {
	switch d := dest.(type) {
	case **int64:
		return optional(d, v)
	case **string:
		return optional(d, v)
	case **time.Time:
		return optional(d, v)
	case **[16]byte:
		return optional(d, v)
	case *[]byte:
		return assignBytes(d, v)
	}
	switch v := v.(type) {
	case int64:
		return assignInt(dest, v)
	case string:
		if d, ok := dest.(*string); ok {
			*d = v
			return nil
		}
	case []byte:
		if d, ok := dest.(*[16]byte); ok && len(v) == 16 {
			copy(d[:], v)
			return nil
		}
	}
	return fmt.Errorf("cannot put %T into %T", v, dest)
}

func optional[T any](d **T, v driver.Value) error {
	if v == nil {
		*d = nil
		return nil
	}
	value := new(T)
	if err := assign(any(value), v); err != nil {
		*d = nil
		return err
	}
	*d = value
	return nil
}

func assignBytes(d *[]byte, v driver.Value) error {
	switch v := v.(type) {
	case nil:
		*d = nil
	case []byte:
		*d = v
	case string:
		*d = []byte(v)
	default:
		return fmt.Errorf("cannot put %T into []byte", v)
	}
	return nil
}

func assignInt(dest any, v int64) error {
	switch d := dest.(type) {
	case *int64:
		*d = v
	case *int:
		*d = int(v)
	case *bool:
		*d = v != 0
	case *time.Time:
		*d = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("cannot put an integer into %T", dest)
	}
	return nil
}
