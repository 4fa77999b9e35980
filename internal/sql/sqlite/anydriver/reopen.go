package anydriver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	// reopenEvery is the shortest time between attempts to open a lost file again.
	reopenEvery = 50 * time.Millisecond
	// reopenLimit bounds an attempt; other callers meanwhile get the error.
	reopenLimit = 10 * time.Second
	// reopenLockWait is how long to wait for a transaction that is under way.
	reopenLockWait = time.Second
)

// purpose marks the connections that pawl makes for itself: one of those opens a lost
// database again, the others wait for that.
type purpose int

const (
	toUse purpose = iota
	toReopen
)

type purposeKey struct{}

// checkFiles returns an error if the files are no longer those that were opened. It tries to
// open the database again first, where that is safe.
func (db *DB) checkFiles(ctx context.Context) error {
	if err := db.guard.check(); err == nil {
		return nil
	}
	return db.reopenLost(ctx)
}

// Lost is closed when the database's files changed such that only a restart of the program
// helps; see docs/operating.md. Failure returns the reason after that.
func (db *DB) Lost() <-chan struct{} { return db.guard.final }

// Failure returns what happened to the files; nil while they are those that were opened. It
// is an engine.ErrFileLost.
func (db *DB) Failure() error {
	if lost := db.guard.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// reopenLost tries to open a lost database again, one caller at a time.
func (db *DB) reopenLost(ctx context.Context) error {
	lost := db.guard.lost.Load()
	if lost == nil {
		return nil
	}
	if !db.reopening.TryLock() {
		return lost
	}
	defer db.reopening.Unlock()
	if time.Since(db.tried) < reopenEvery || db.isFinal() {
		return lost
	}
	ctx, cancel := context.WithTimeout(context.WithValue(context.WithoutCancel(ctx), purposeKey{}, toReopen), reopenLimit)
	defer cancel()
	select {
	case db.lock <- struct{}{}:
		defer func() { <-db.lock }()
	case <-time.After(reopenLockWait):
		return lost
	}
	err := db.reopenLocked(ctx)
	if err != nil {
		db.tried = time.Now()
	}
	return err
}

func (db *DB) isFinal() bool {
	select {
	case <-db.guard.final:
		return true
	default:
		return false
	}
}

// reopenLocked checks again and opens, while no transaction of this process is open.
func (db *DB) reopenLocked(ctx context.Context) error {
	g := db.guard
	h, lost := g.open.Load(), g.lost.Load()
	if lost == nil {
		return nil
	}
	seen := h.seen.Load()
	now, err := seen.identify()
	if err != nil {
		return lost
	}
	what := now.differs(seen.fileSet)
	switch {
	case what == unchanged:
		g.log.Warn("the database's files are back", "file", seen.name)
		g.lost.Store(nil)
		return nil
	case what == gone:
		return db.stayLost(what, nil)
	case what == logChanged:
		return db.endLost(h, what, nil)
	case !db.owned:
		return db.endLost(h, what, errors.New("the pool is the program's own, and keeps its connections"))
	case what == logGone:
		return db.recoverLog(ctx, h)
	}
	return db.openReplacement(ctx, h)
}

// stayLost keeps the database lost, until a file is put in its place.
func (db *DB) stayLost(what change, why error) error {
	lost := &lostError{path: db.guard.open.Load().seen.Load().name, what: what, why: why}
	db.guard.lost.Store(lost)
	return lost
}

// endLost marks the database lost for good: only a restart helps.
func (db *DB) endLost(h *openFiles, what change, why error) error {
	lost := &lostError{path: h.seen.Load().name, what: what, why: why}
	db.guard.markFinal(h, lost)
	return lost
}

// recoverLog checkpoints a deleted log, which is still open, into the file, and opens the
// database again. There is no other log: all that was committed is in this one.
func (db *DB) recoverLog(ctx context.Context, h *openFiles) error {
	var busy, pages, moved int64
	err := db.writer.use(ctx, func(s *session) error {
		s.ctx = ctx
		return s.once("PRAGMA wal_checkpoint(FULL)", func(r engine.Row) error { return r.Scan(&busy, &pages, &moved) })
	})
	switch seen := h.seen.Load(); {
	case err != nil, busy != 0, moved < pages:
		if err == nil {
			err = fmt.Errorf("%d of the log's %d pages are in the file, a reader needs the others", moved, pages)
		}
		return db.stayLost(logGone, err)
	default:
		now, failure := seen.identify()
		if what := now.differs(seen.fileSet); failure != nil || what != logGone {
			return db.stayLost(what, failure)
		}
	}
	db.dropAll(ctx)
	if db.guard.inUse(h) {
		return db.stayLost(logGone, errors.New("the program's own connections are still open"))
	}
	return db.reopen(ctx, false)
}

// openReplacement opens the file that is in the place of the old one. The old one's log does
// not belong to it, but SQLite would apply it.
func (db *DB) openReplacement(ctx context.Context, h *openFiles) error {
	seen := h.seen.Load()
	path, err := filepath.EvalSymlinks(seen.name)
	if isLink(seen.name) && !db.guard.link {
		err = errors.New("there is a link in its place, which is not followed")
	}
	if err == nil {
		err = db.isOurs(ctx, path, seen)
	}
	if err == nil {
		err = renameOldLog(path, seen)
	}
	if err != nil {
		return db.stayLost(replaced, err)
	}
	db.dropAll(ctx)
	return db.reopen(ctx, true)
}

// isOurs returns an error if a file is no database with pawl's tables. Beside the log of the
// old file it is read without a log: SQLite would apply that.
func (db *DB) isOurs(ctx context.Context, path string, seen *fileState) error {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&_pragma=busy_timeout(5000)"
	log, err := identify(path + "-wal")
	if err == nil && log == seen.log && !log.missing() {
		dsn += "&immutable=1"
	}
	if err != nil {
		return err
	}
	conn, err := db.sql.Driver().Open(dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // it was only read
	ses := newSession(conn)
	defer ses.close()
	ses.ctx = ctx
	tables := int64(0)
	err = ses.query(`SELECT count(*) FROM sqlite_schema WHERE name = ?1`, []any{db.opts.Prefix + "pawl_schema"}, func(r engine.Row) error { return r.Scan(&tables) })
	if err == nil && tables == 0 {
		err = errors.New("the other file has no pawl tables")
	}
	return err
}

// renameOldLog renames the log of the old file if it is still beside the new one, and removes
// its index, which has no data.
func renameOldLog(path string, seen *fileState) error {
	log, err := identify(path + "-wal")
	if err != nil {
		return err
	}
	if log == seen.log && !log.missing() {
		renamed := fmt.Sprintf("%s-wal.of-the-replaced-file-%d", path, time.Now().UnixMicro())
		if err := os.Rename(path+"-wal", renamed); err != nil {
			return err
		}
	}
	index, err := identify(path + "-shm")
	if err == nil && index == seen.index && !index.missing() {
		err = os.Remove(path + "-shm")
	}
	return err
}

// dropAll closes all connections of pawl, and the idle ones of the pool. The others end with
// their transactions.
func (db *DB) dropAll(ctx context.Context) {
	db.writer.lose()
	for range cap(db.readers) {
		select {
		case s, open := <-db.readers:
			if open {
				s.lose()
				defer func() { db.readers <- s }()
			}
		case <-ctx.Done():
		}
	}
	db.sql.SetMaxIdleConns(0)
	db.sql.SetMaxIdleConns(idleConns)
}

// reopen opens the database again. other means that it is another one.
func (db *DB) reopen(ctx context.Context, other bool) error {
	g, what := db.guard, logGone
	if other {
		what = replaced
	}
	back := g.reset(other)
	err := db.writer.use(ctx, func(s *session) error {
		if !other {
			return nil
		}
		s.ctx = ctx
		have, err := db.schema(s)
		if err == nil {
			err = db.folder.Status(have).Err
		}
		return err
	})
	if err != nil {
		db.writer.lose()
		back()
		return db.stayLost(what, err)
	}
	if other {
		db.generations.MarkReplaced()
	}
	g.lost.Store(nil)
	g.log.Warn("the database was opened anew", "file", g.open.Load().seen.Load().name, "another", other)
	return nil
}
