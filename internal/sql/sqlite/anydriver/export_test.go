package anydriver

import (
	"context"
	"io/fs"
	"slices"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// SetObject makes db one of another build, whose routine or view has this text, or
// which has none if the text is empty.
func SetObject(db *DB, kind, name, text string) {
	db.folder.Objects = enginetest.With(db.folder, kind, name, text)
}

// AddMigration makes db one of a newer build.
func AddMigration(db *DB, text string) {
	db.folder.Migrations = enginetest.Next(db.folder, text)
}

// WriterPragma asks pawl's writing connection for one of its settings.
func (db *DB) WriterPragma(name string) (v int64, err error) {
	err = db.writer.use(context.Background(), func(s *session) error {
		s.ctx = context.Background()
		return s.query("PRAGMA "+name, nil, func(r engine.Row) error { return r.Scan(&v) })
	})
	return v, err
}

// Statement is the text of one of the folder's statements.
func Statement(db *DB, name string) string {
	for _, s := range db.folder.Statements() {
		if s.Name == name {
			return s.Text
		}
	}
	return ""
}

// Classify names the class of a driver's error.
func Classify(err error) error { return classify(err) }

// Unbound are the files that no operation names which is not answered in Go, and those of one
// that is which lie in SQLite's own folder.
func Unbound(db *DB) (names []string) {
	for _, name := range db.folder.Unbound() {
		_, err := fs.Stat(files, name+".sql")
		answered := slices.ContainsFunc(op.All(), func(o engine.Operation) bool { return engine.NameOf(o) == name && db.answers.has(o) })
		if err == nil || !answered {
			names = append(names, name)
		}
	}
	return names
}

// Statements are those that are bound to operations.
func Statements(db *DB) []*engine.Statement { return db.folder.Statements() }

// Answered reports whether a statement is run by the Go code that answers its operation.
func Answered(db *DB, s *engine.Statement) bool { return db.answers[s.Type()] != nil }

// NeverPoll makes the watcher check for commits only when the system reports a write.
func NeverPoll(db *DB) {
	db.watch.backstop = 1 << 60
	db.watch.poll = func(_, _ time.Duration) time.Duration { return 1 << 60 }
}

// LoseReport takes away the report of the next write, as if it had come before the watch was armed.
func LoseReport(db *DB) { db.watch.file.Disarm() }

// WatchAnother makes the system report writes to a file that commits do not write to.
func WatchAnother(db *DB) {
	db.watch.suffix, db.watch.backstop = "-shm", time.Millisecond
}

// ReliesOnReports reports whether the watcher waits for the system to report writes.
func ReliesOnReports(db *DB) bool {
	db.watch.mu.Lock()
	defer db.watch.mu.Unlock()
	return time.Now().After(db.watch.pollOnly)
}

// HasIDs reports whether ids are reserved ahead.
func HasIDs(db *DB) bool { return !db.ids.Low() }

// Reported reports whether the system reported a write, and its commit was not found yet.
func Reported(db *DB) bool {
	db.watch.mu.Lock()
	defer db.watch.mu.Unlock()
	return !db.watch.reported.IsZero()
}
