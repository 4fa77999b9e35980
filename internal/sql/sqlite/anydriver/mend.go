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
	// mendEvery is how often it is tried to open a lost file anew.
	mendEvery = 50 * time.Millisecond
	// mendLimit bounds a try: whoever comes meanwhile is told that the file is lost.
	mendLimit = 10 * time.Second
	// mendLock is how long to wait for a transaction that is under way.
	mendLock = time.Second
)

// purpose marks the connections that pawl makes for itself: by one of those a lost
// database is opened anew, the others wait for that.
type purpose int

const (
	toKeep purpose = iota
	toMend
)

type purposeKey struct{}

// sound reports whether the files are still those that were opened. If not it tries
// to open the database anew, where that is safe.
func (db *DB) sound(ctx context.Context) error {
	if err := db.guard.check(); err == nil {
		return nil
	}
	return db.mend(ctx)
}

// Unmendable is closed when the database's files changed such that only a restart of
// the program helps; see docs/operating.md. Failure then tells what happened.
func (db *DB) Lost() <-chan struct{} { return db.guard.final }

// Failure is what happened to the files; nil while they are those that were opened.
// It is an engine.ErrFileLost.
func (db *DB) Failure() error {
	if lost := db.guard.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// mend tries to open a lost database anew, one caller at a time.
func (db *DB) mend(ctx context.Context) error {
	lost := db.guard.lost.Load()
	if lost == nil {
		return nil
	}
	if !db.mending.TryLock() {
		return lost
	}
	defer db.mending.Unlock()
	if time.Since(db.tried) < mendEvery || db.unmendable() {
		return lost
	}
	ctx, cancel := context.WithTimeout(context.WithValue(context.WithoutCancel(ctx), purposeKey{}, toMend), mendLimit)
	defer cancel()
	select {
	case db.lock <- struct{}{}:
		defer func() { <-db.lock }()
	case <-time.After(mendLock):
		return lost
	}
	err := db.mendLocked(ctx)
	if err != nil {
		db.tried = time.Now()
	}
	return err
}

func (db *DB) unmendable() bool {
	select {
	case <-db.guard.final:
		return true
	default:
		return false
	}
}

// mendLocked looks again, with no transaction of this process under way.
func (db *DB) mendLocked(ctx context.Context) error {
	g := db.guard
	h, lost := g.hold.Load(), g.lost.Load()
	if lost == nil {
		return nil
	}
	seen := h.seen.Load()
	now, err := seen.identify()
	if err != nil {
		return lost
	}
	what := now.differs(seen.trio)
	switch {
	case what == unchanged:
		g.log.Warn("the database's files are back", "file", seen.name)
		g.lost.Store(nil)
		return nil
	case what == gone:
		return db.stays(what, nil)
	case what == logChanged:
		return db.ends(h, what, nil)
	case !db.owned:
		return db.ends(h, what, errors.New("the pool is the program's own, and keeps its connections"))
	case what == logGone:
		return db.rescue(ctx, h)
	}
	return db.moveIn(ctx, h)
}

// stays keeps the database lost, until somebody puts something in its place.
func (db *DB) stays(what change, why error) error {
	lost := &lostError{path: db.guard.hold.Load().seen.Load().name, what: what, why: why}
	db.guard.lost.Store(lost)
	return lost
}

// ends gives up: only a restart helps.
func (db *DB) ends(h *hold, what change, why error) error {
	lost := &lostError{path: h.seen.Load().name, what: what, why: why}
	db.guard.giveUp(h, lost)
	return lost
}

// rescue brings what is in a deleted log, which is still open, into the file, and
// opens the database anew. Nobody has begun another log: what was committed is here.
func (db *DB) rescue(ctx context.Context, h *hold) error {
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
		return db.stays(logGone, err)
	default:
		now, failure := seen.identify()
		if what := now.differs(seen.trio); failure != nil || what != logGone {
			return db.stays(what, failure)
		}
	}
	db.dropAll(ctx)
	if db.guard.used(h) {
		return db.stays(logGone, errors.New("the program's own connections are still open"))
	}
	return db.again(ctx, false)
}

// moveIn opens the file that is in the place of the old one. The old one's log does
// not belong to it: SQLite would apply it all the same.
func (db *DB) moveIn(ctx context.Context, h *hold) error {
	seen := h.seen.Load()
	path, err := filepath.EvalSymlinks(seen.name)
	if isLink(seen.name) && !db.guard.link {
		err = errors.New("there is a link in its place, which is not followed")
	}
	if err == nil {
		err = db.isOurs(ctx, path, seen)
	}
	if err == nil {
		err = setAside(path, seen)
	}
	if err != nil {
		return db.stays(replaced, err)
	}
	db.dropAll(ctx)
	return db.again(ctx, true)
}

// isOurs looks whether a file is a database with pawl's tables. Beside the log of the
// old file it is read without one: SQLite would apply that to it.
func (db *DB) isOurs(ctx context.Context, path string, seen *sight) error {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=ro&_pragma=busy_timeout(5000)"
	log, err := identify(path + "-wal")
	if err == nil && log == seen.log && !log.none() {
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

// setAside renames the log of the old file, should it still be beside the new one, and
// removes its index, of which nothing is lost.
func setAside(path string, seen *sight) error {
	log, err := identify(path + "-wal")
	if err != nil {
		return err
	}
	if log == seen.log && !log.none() {
		aside := fmt.Sprintf("%s-wal.of-the-replaced-file-%d", path, time.Now().UnixMicro())
		if err := os.Rename(path+"-wal", aside); err != nil {
			return err
		}
	}
	index, err := identify(path + "-shm")
	if err == nil && index == seen.index && !index.none() {
		err = os.Remove(path + "-shm")
	}
	return err
}

// dropAll closes all connections of pawl, and those of the pool that nobody uses. The
// others end with their transactions.
func (db *DB) dropAll(ctx context.Context) {
	db.writer.lose()
	db.watch.lose()
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

// again opens the database anew. other says that it is another one.
func (db *DB) again(ctx context.Context, other bool) error {
	g, what := db.guard, logGone
	if other {
		what = replaced
	}
	back := g.renew(other)
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
		return db.stays(what, err)
	}
	if other {
		db.generations.MarkReplaced()
	}
	g.lost.Store(nil)
	g.log.Warn("the database was opened anew", "file", g.hold.Load().seen.Load().name, "another", other)
	return nil
}
