package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

const (
	// lockFence bounds how long a fence waits for a lock before it lets others pass and is
	// repeated. In a deadlock with a program it is the fence that gives way.
	lockFence = "SET LOCK_TIMEOUT 500; SET DEADLOCK_PRIORITY LOW"
	// unlockFence ends the settings: a pool that does not reset its connections would return them.
	// That of locks is ended by [DB.migrating].
	unlockFence = "SET DEADLOCK_PRIORITY NORMAL"
	// pass is the right to write to tables with a fence: a lock of the transaction, which the
	// triggers ask for. The context of a session would stay with a connection whose transaction
	// was rolled back; the lock ends with the transaction, in whatever way. Several may have it:
	// the transactions of several processes follow each other by the row of the move.
	pass = `DECLARE @got int;
EXEC @got = sys.sp_getapplock @Resource = @p1, @LockMode = N'Shared', @LockOwner = N'Transaction', @LockTimeout = 0;
IF @got < 0 THROW 57103, 'could not lock the move', 1`
	// fenceFormat fires once for every statement, also for one that finds no row.
	fenceFormat = `CREATE TRIGGER %s ON %s AFTER INSERT, UPDATE, DELETE AS
IF APPLOCK_MODE(N'public', %s, N'Transaction') = N'NoLock'
  THROW %d, %s, 1`
	dropFence = "IF OBJECT_ID(%s, N'TR') IS NOT NULL DROP TRIGGER %s"
)

// passName is the name of the lock of a move.
func passName(id [16]byte) string { return "pawl.move/" + uuidText(id) }

func passFence(ctx context.Context, tx engine.Tx, id [16]byte) error {
	_, err := tx.ExecContext(ctx, pass, passName(id))
	return wrap(moving, err, engine.ErrConnLost)
}

// fence is the name of the trigger on a table. Triggers are named within the schema.
func (s *stored) fence() string { return s.names.Quote(fencePrefix + s.name) }

const fencePrefix = "move_"

// createFence is a batch of its own, as the server wants it. THROW takes % for the beginning of a
// format, and what becomes of one that procedures catch and throw on is written nowhere: then the
// text says where to read the place, which is done by [refused].
func (s *stored) createFence(f engine.Fence) string {
	text := f.Text()
	if strings.Contains(text, "%") {
		text = "pawl: the store was moved, the table " + s.names.Quote("move") + " says where to; nothing was written"
	}
	return fmt.Sprintf(fenceFormat, s.fence(), s.quoted(), quoteText(passName(f.ID)), errMoved, quoteText(text))
}

func (s *stored) dropFence() string { return fmt.Sprintf(dropFence, quoteText(s.fence()), s.fence()) }

// inFence runs fn in a transaction that has dropped the triggers.
func (db *DB) inFence(ctx context.Context, f engine.Fence, tables []engine.Table, fn func(ctx context.Context, tx *sql.Tx) error) error {
	return db.inMigration(ctx, func(ctx context.Context, tx *sql.Tx) error {
		drops := make([]string, len(tables))
		for i := range tables {
			drops[i] = db.stored(&tables[i]).dropFence()
		}
		for _, text := range []string{lockFence, strings.Join(drops, ";\n")} {
			if err := db.batch(ctx, tx, text); err != nil {
				return err
			}
		}
		if err := passFence(ctx, tx, f.ID); err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return db.batch(ctx, tx, unlockFence)
	})
}

// isFence reports whether a trigger on a table is a fence.
func (db *DB) isFence(trigger, table string) bool {
	name, ok := strings.CutPrefix(trigger, db.opts.Prefix+fencePrefix)
	return ok && db.opts.Prefix+name == table
}

// errOutput is what the server says of OUTPUT without INTO on a table with a trigger: a fence
// refuses such a statement before it can say why. pawl has none; programs of others may.
const errOutput = 334

// movedClass returns the class of an error that a fence raised.
func movedClass(err error) error {
	if class := engine.MovedClass(err.Error()); class != nil {
		return class
	}
	return engine.ErrMoved // of a text without a place; see refused
}

// refused gives an error the place that the store was moved to, if a fence refused a statement
// without saying so. read reads the state of the move.
func refused(err error, read func() (op.Move, error)) error {
	var own *engine.Error
	if !errors.As(err, &own) || own.Class != engine.ErrMoved && (own.Class != nil || !driverr.HasNumber(err, errOutput)) { //nolint:errorlint // the class itself: others wrap it
		return err
	}
	m, failed := read()
	if failed != nil || m.Phase == nil {
		return err // it cannot be read, or the trigger is somebody else's
	}
	class := engine.NewMovedError("")
	switch *m.Phase {
	case op.Closed, op.Moved:
		class = engine.NewMovedError(*m.Place)
	case op.Filling:
	default:
		return err
	}
	return &engine.Error{Op: own.Op, Class: class, Err: own.Err}
}

// refusedTx is refused for a caller's transaction. That may be over, so another connection is
// asked first, if the pool has one.
func (db *DB) refusedTx(ctx context.Context, tx engine.Tx, err error) error {
	return refused(err, func() (m op.Move, err error) {
		ctx, cancel := context.WithTimeout(ctx, besideLimit)
		defer cancel()
		if db.roomBeside() {
			if m, _, err = engine.Get(ctx, db, op.MoveRead{}); err == nil {
				return m, nil
			}
		}
		var all []op.Move
		if err = db.DoTx(ctx, tx, engine.List(op.MoveRead{}, &all)); err == nil && len(all) > 0 {
			m = all[0]
		}
		return m, err
	})
}
