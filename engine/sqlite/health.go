package sqlite

import (
	"fmt"
	"os"

	"github.com/bravellian/pawl/engine"
)

// healthOperation returns what answers an operation of health in Go.
func healthOperation(name string) opFunc {
	if name == "ping" {
		return ping
	}
	return nil
}

// ping reads the file, and sees that it is still where it was opened: SQLite reads
// and writes a file to the end that somebody deleted or replaced, and all that is
// written to it is gone with the process.
func ping(t *txn, c *engine.Call) error {
	if err := t.query("health/read", func(engine.Row) error { return nil }); err != nil {
		return err
	}
	var path string
	if err := t.query("health/file", func(r engine.Row) error { return r.Scan(&path) }); err != nil || path == "" {
		return err
	}
	now, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: the file was moved or deleted: %w", engine.ErrUnreachable, err)
	}
	if !t.db.born.CompareAndSwap(nil, &now) && !os.SameFile(*t.db.born.Load(), now) {
		return fmt.Errorf("%w: another file is in the place of %s", engine.ErrUnreachable, path)
	}
	return answer(c, 1)
}

// remember notes which file was opened.
func (db *DB) remember() {
	var path string
	if db.sql.QueryRow(`SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path) != nil {
		return // the first ping will
	}
	if info, err := os.Stat(path); err == nil {
		db.born.Store(&info)
	}
}
