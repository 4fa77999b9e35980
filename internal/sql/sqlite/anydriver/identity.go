package anydriver

import (
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
)

// fileID is a device and inode, which identify an open file; a name may mean another later.
type fileID struct{ dev, ino uint64 }

// missing reports whether there is no such file.
func (f fileID) missing() bool { return f == fileID{} }

// fileSet is a database file and the files that SQLite keeps beside it in WAL mode while it
// is open: the log, and the index of the log, which holds the locks.
type fileSet struct{ main, log, index fileID }

// place is the location of a database's files: its name, which may be a link, and the path
// that SQLite resolved it to, beside which it creates its own files.
type place struct{ name, path string }

// identify returns the files that exist now.
func (p place) identify() (t fileSet, err error) {
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

// change is what happened to the files of an open database.
type change int

const (
	unchanged  change = iota
	gone              // the database was moved or deleted
	replaced          // there is another file in its place
	logGone           // its log, or the log's index, was deleted
	logChanged        // its log was replaced by another one
)

// differs returns what changed since the files were as in seen. SQLite deletes log and index
// only when no connection is open any more.
func (t fileSet) differs(seen fileSet) change {
	switch {
	case t.main.missing():
		return gone
	case t.main != seen.main:
		return replaced
	}
	found := unchanged
	for _, beside := range [...][2]fileID{{t.log, seen.log}, {t.index, seen.index}} {
		switch now, before := beside[0], beside[1]; {
		case now == before, before.missing():
		case now.missing():
			found = max(found, logGone)
		default:
			found = logChanged
		}
	}
	return found
}

// adopt fills in files that did not exist at first: opening a file that is not in WAL mode
// creates no log.
func (t fileSet) adopt(now fileSet) fileSet {
	if t.log.missing() {
		t.log = now.log
	}
	if t.index.missing() {
		t.index = now.index
	}
	return t
}

// lostError is the error of a database whose files changed. It is an engine.ErrFileLost.
type lostError struct {
	path string
	what change
	why  error // it was not opened again; may be nil
}

// Error names the file, what happened to it and what to do about it.
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

// Unwrap returns the class and why the database was not opened again.
func (e *lostError) Unwrap() []error {
	if e.why == nil {
		return []error{engine.ErrFileLost}
	}
	return []error{engine.ErrFileLost, e.why}
}
