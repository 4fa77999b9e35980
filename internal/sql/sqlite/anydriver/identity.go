package anydriver

import (
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
)

// fileID is device and inode: what a name means may change, what is open does not.
type fileID struct{ dev, ino uint64 }

// none: there is no such file.
func (f fileID) none() bool { return f == fileID{} }

// trio is a database and the files beside it that SQLite keeps while it is open in
// WAL mode: the log, and the index of the log, which holds the locks.
type trio struct{ main, log, index fileID }

// place is where a database's files are: its name, which may be a link, and the path
// that SQLite made of it, beside which it puts its own files.
type place struct{ name, path string }

// identify returns which files there are now.
func (p place) identify() (t trio, err error) {
	for _, f := range [...]struct {
		id   *fileID
		name string
	}{{&t.main, p.name}, {&t.log, p.path + "-wal"}, {&t.index, p.path + "-shm"}} {
		if *f.id, err = identify(f.name); err != nil {
			return t, err
		}
	}
	return t, nil
}

// change is what became of the files of a database that is open.
type change int

const (
	unchanged  change = iota
	gone              // the database was moved or deleted
	replaced          // there is another file in its place
	logGone           // its log, or the log's index, was deleted
	logChanged        // and another one begun
)

// differs tells what changed since the files were as seen. SQLite deletes log and
// index only when nobody has the database open any more.
func (t trio) differs(seen trio) change {
	switch {
	case t.main.none():
		return gone
	case t.main != seen.main:
		return replaced
	}
	found := unchanged
	for _, beside := range [...][2]fileID{{t.log, seen.log}, {t.index, seen.index}} {
		switch now, before := beside[0], beside[1]; {
		case now == before, before.none():
		case now.none():
			found = max(found, logGone)
		default:
			found = logChanged
		}
	}
	return found
}

// adopt fills in what was not there at first: who opens a file that is not in WAL mode
// makes no log.
func (t trio) adopt(now trio) trio {
	if t.log.none() {
		t.log = now.log
	}
	if t.index.none() {
		t.index = now.index
	}
	return t
}

// lostError says what became of the files. It is an engine.ErrFileLost.
type lostError struct {
	path string
	what change
	why  error // it cannot be mended; may be nil
}

// Error tells the file, what happened to it and what to do about it.
func (e *lostError) Error() string {
	text := engine.ErrFileLost.Error() + ": " + e.path
	switch e.what {
	case gone:
		text += " was moved or deleted: put it back, or restart the program"
	case replaced:
		text += " was replaced by another file"
	case logGone:
		text += ": its -wal or -shm was deleted while the database was open"
	case logChanged:
		text += ": its -wal or -shm was deleted while the database was open, and another begun: what was committed since then by this program may be lost; restart it"
	}
	if e.why != nil {
		text += fmt.Sprintf(" (%v)", e.why)
	}
	return text
}

// Unwrap yields the class and why it could not be mended.
func (e *lostError) Unwrap() []error {
	if e.why == nil {
		return []error{engine.ErrFileLost}
	}
	return []error{engine.ErrFileLost, e.why}
}
