package driverr_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	_ "modernc.org/sqlite" // for its errors

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

// fields is an error like pgdriver's.
type fields map[byte]string

func (f fields) Error() string       { return "server error " + f['C'] }
func (f fields) Field(k byte) string { return f[k] }

// coded is an error like modernc's.
type coded int

func (c coded) Error() string { return fmt.Sprint("result ", int(c)) }
func (c coded) Code() int     { return int(c) }

// D-242: whatever driver reports it, an error that others caused is one after which the transaction can be
// repeated; and an error that pawl has given a class has that class alone.
func TestRetryable(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{Code: "40001"}, true},
		{&pgconn.PgError{Code: "40P01"}, true},
		{&pgconn.PgError{Code: "55P03"}, true},
		{&pgconn.PgError{Code: "23505"}, false},
		{fields{'C': "40001"}, true},
		{fields{'C': "23505"}, false},
		{busy(t), true},
		{coded(517), true}, // SQLITE_BUSY_SNAPSHOT
		{coded(2067), false},
		{errors.New("40001"), false},
		{&engine.Error{Class: engine.ErrDeadlock, Err: errors.New("x")}, true},
		{&engine.Error{Class: engine.ErrCommitUnknown, Err: &pgconn.PgError{Code: "40001"}}, false},
	} {
		if got := pawl.Retryable(fmt.Errorf("place order: %w", c.err)); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
	if pawl.Retryable(nil) || driverr.Transient(nil) {
		t.Error("no error can be repeated")
	}
}

// busy is modernc's error when somebody else writes.
func busy(t *testing.T) error {
	t.Helper()
	path := "file:" + filepath.Join(t.TempDir(), "a.db") + "?_txlock=immediate"
	var last error
	for range 2 {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if _, last = db.BeginTx(t.Context(), nil); last != nil {
			return last
		}
	}
	t.Fatal("two transactions write at once")
	return nil
}
