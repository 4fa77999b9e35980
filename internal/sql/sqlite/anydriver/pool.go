package anydriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// New uses a pool that you own, opened with any SQLite driver. It switches the file to WAL if
// necessary, and returns an error for a pool whose transactions do not begin immediate: one
// that reads before it writes would fail with SQLITE_BUSY_SNAPSHOT after any other commit,
// whatever the busy timeout. modernc, mattn, ncruces and glebarez all accept
// _txlock=immediate in the data source's name. Set busy_timeout(5000) as well: some drivers
// do not wait for the lock by default.
//
// pawl keeps up to three of the pool's connections for itself, so the pool must allow
// more. Close leaves the pool open.
func New(pool *sql.DB, opts ...Options) (*DB, error) {
	if most := pool.Stats().MaxOpenConnections; most > 0 && most <= reserved {
		return nil, fmt.Errorf("sqlite: the pool allows %d connections, pawl needs %d for itself", most, reserved)
	}
	o, err := options(opts)
	if err != nil {
		return nil, err
	}
	if err := checkPool(pool, o); err != nil {
		return nil, err
	}
	return build(pool, make(chan struct{}, 1), newGuard("", o.Logger), nil, o)
}

// checkPool makes sure that pawl and the program can write side by side.
func checkPool(pool *sql.DB, o Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), o.StatementTimeout)
	defer cancel()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return poolError(err)
	}
	defer conn.Close()
	if !o.KeepJournal {
		if err := turnOnWAL(ctx, conn); err != nil {
			return err
		}
	}
	immediate, err := beginsImmediate(ctx, conn)
	if err != nil {
		return poolError(err)
	}
	if !immediate {
		return errors.New("sqlite: the pool's transactions are deferred and would fail when somebody else writes: " +
			"open it with _txlock=immediate in the data source's name")
	}
	return nil
}

func poolError(err error) error {
	return &engine.Error{Op: "look at the pool", Class: classify(err), Err: err}
}

// turnOnWAL switches the file to WAL permanently. SQLite does that only while no other
// connection uses the file, and returns busy at once otherwise.
func turnOnWAL(ctx context.Context, conn *sql.Conn) error {
	for _, query := range []string{"PRAGMA journal_mode", "PRAGMA journal_mode = WAL"} {
		var mode string
		err := conn.QueryRowContext(ctx, query).Scan(&mode)
		for errors.Is(classify(err), engine.ErrBusy) && lockDelay(ctx) == nil {
			err = conn.QueryRowContext(ctx, query).Scan(&mode)
		}
		switch {
		case err != nil:
			return poolError(fmt.Errorf("journal_mode is not WAL and cannot be changed: %w", err))
		case strings.EqualFold(mode, "wal"):
			return nil
		case strings.EqualFold(mode, "memory"):
			return errors.New("sqlite: an in-memory database is private to one connection, pawl needs several: use a file")
		}
	}
	return errors.New("sqlite: the database cannot be switched to WAL")
}

// beginsImmediate reports whether transactions take the write lock when they begin. A
// checkpoint shows it: it fails on a connection that holds the lock, and not in a transaction
// that has done nothing yet. Other connections do not matter.
func beginsImmediate(ctx context.Context, conn *sql.Conn) (bool, error) {
	tx, err := conn.BeginTx(ctx, nil)
	switch class := classify(err); {
	case errors.Is(class, engine.ErrBusy), errors.Is(class, engine.ErrReadOnly):
		return true, nil // a transaction that does not take the lock cannot fail to get it
	case err != nil:
		return false, err
	}
	defer tx.Rollback()
	var busy, log, done int
	err = tx.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &log, &done)
	if errors.Is(classify(err), engine.ErrBusy) {
		return true, nil
	}
	return false, err
}
