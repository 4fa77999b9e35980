package anydriver_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// Errors as drivers make them. The drivers themselves are tested in internal/test/driverstest.
type (
	byMethod  struct{ code int }              // modernc, glebarez
	byMethods struct{ code uint16 }           // ncruces
	byFields  struct{ Code, ExtendedCode no } // mattn
	no        int
	primary   uint8
	extended  uint16
)

func (e primary) Error() string    { return "refused" }
func (e extended) Error() string   { return "refused" }
func (e byMethod) Error() string   { return "refused" }
func (e *byMethods) Error() string { return "refused" }
func (e byFields) Error() string   { return "refused" }

func (e primary) ExtendedCode() extended    { return extended(e) }
func (e extended) Code() primary            { return primary(e) }
func (e byMethod) Code() int                { return e.code }
func (e *byMethods) Code() primary          { return primary(e.code) }
func (e *byMethods) ExtendedCode() extended { return extended(e.code) }

// OBX-099: an error means the same whichever driver reports it.
func TestErrorsOfAllDrivers(t *testing.T) {
	for code, want := range map[int]error{
		5: engine.ErrBusy, 5 | 2<<8: engine.ErrBusy, 6: engine.ErrBusy, 8: engine.ErrReadOnly, 9: engine.ErrTimeout, 13: engine.ErrNoRoom, 14: engine.ErrUnreachable,
		26: engine.ErrUnreachable, 2067: engine.ErrUnique, 1555: engine.ErrUnique, 2579: engine.ErrUnique, 19: nil, 1: nil,
	} {
		for _, err := range []error{
			byMethod{code}, &byMethods{uint16(code)}, extended(code), byFields{no(code & 0xff), no(code)}, &byFields{no(code & 0xff), no(code)},
		} {
			for _, err := range []error{err, fmt.Errorf("commit: %w", err), errors.Join(errors.New("first"), err)} {
				if got := sqlite.Classify(err); !errors.Is(got, want) {
					t.Errorf("%T with code %d is %v, want %v", err, code, got, want)
				}
			}
		}
	}
	if got := sqlite.Classify(byFields{5, 0}); !errors.Is(got, engine.ErrBusy) {
		t.Errorf("without an extended code: %v", got)
	}
	if got := sqlite.Classify(primary(6)); !errors.Is(got, engine.ErrBusy) {
		t.Errorf("a code by itself: %v", got)
	}
	if got := sqlite.Classify(errors.Join(errors.New("a"), errors.New("b"))); got != nil {
		t.Errorf("an error of nobody's is %v", got)
	}
}

func ownPool(t *testing.T, params string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "own.db")+"?"+params)
	enginetest.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// D-101: a pool whose transactions begin deferred is refused, also while another connection
// writes.
func TestADeferredPoolIsRefused(t *testing.T) {
	for params, ok := range map[string]bool{
		"": false, "_txlock=deferred": false, "_txlock=immediate": true, "_txlock=exclusive": true, "_txlock=immediate&mode=rwc": true,
	} {
		pool := ownPool(t, params)
		db, err := sqlite.New(pool)
		if ok != (err == nil) {
			t.Errorf("%q: %v", params, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "_txlock=immediate") {
				t.Errorf("%q: the error does not say what to do: %v", params, err)
			}
			continue
		}
		tx, err := pool.BeginTx(t.Context(), nil)
		enginetest.Must(t, err)
		again, err := sqlite.New(pool) // the lock is taken, and the pool waits for none
		enginetest.Must(t, err)
		enginetest.Must(t, tx.Rollback())
		enginetest.Must(t, errors.Join(again.Close(), db.Close()))
	}
}

// D-101: the file of a program's own pool is switched to WAL, and what cannot be is
// refused.
func TestAPoolIsSwitchedToWAL(t *testing.T) {
	pool := ownPool(t, "_txlock=immediate")
	db, err := sqlite.New(pool)
	enginetest.Must(t, err)
	var mode string
	enginetest.Must(t, pool.QueryRow("PRAGMA journal_mode").Scan(&mode))
	if mode != "wal" {
		t.Errorf("journal_mode is %q", mode)
	}
	enginetest.Must(t, db.Close())
	kept := ownPool(t, "_txlock=immediate")
	db, err = sqlite.New(kept, sqlite.Options{KeepJournal: true})
	enginetest.Must(t, err)
	enginetest.Must(t, kept.QueryRow("PRAGMA journal_mode").Scan(&mode))
	if mode != "delete" {
		t.Errorf("with KeepJournal: journal_mode is %q", mode)
	}
	enginetest.Must(t, db.Close())
	if _, err := sqlite.New(ownPool(t, "_txlock=immediate&mode=memory")); err == nil || !strings.Contains(err.Error(), "in-memory") {
		t.Errorf("a pool in memory: %v", err)
	}
}
