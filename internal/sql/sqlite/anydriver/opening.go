package anydriver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// OpenerWith returns a fleet.Opener for "sqlite:path", with a driver as for OpenWith. It does not
// use the Gate, which is for servers: a connection to a file does not limit others.
func OpenerWith(connect Connect) func(engine.OpenOptions) (engine.DB, error) {
	return func(o engine.OpenOptions) (engine.DB, error) {
		if err := engine.CheckOption("Connections", o.Connections, 1, 0); err != nil {
			return nil, err
		}
		path, ok := strings.CutPrefix(o.URL, "sqlite:")
		if !ok {
			return nil, fmt.Errorf("open sqlite: the URL does not begin with sqlite")
		}
		if o.Schema != "" {
			return nil, engine.Invalid("schema", "SQLite has none, only a prefix")
		}
		path = strings.TrimPrefix(path, "//")
		db, err := openFile(connect, path, o.Library, Options{Prefix: o.Prefix, Logger: o.Logger}.withDefaults())
		if err != nil {
			return nil, err
		}
		db.file = fileOf(path)
		return db, nil
	}
}

// fileOf returns the file at a path; "" for a URI with escapes.
func fileOf(path string) string {
	uri, ok := strings.CutPrefix(path, "file:")
	if !ok {
		return path
	}
	uri, _, _ = strings.Cut(uri, "?")
	if strings.ContainsAny(uri, "%#") || strings.HasPrefix(uri, "//") {
		return ""
	}
	return uri
}

// absolute returns a path that stays valid when the program changes its directory.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// CloseIdle closes the idle connections.
func (db *DB) CloseIdle() {
	if db.sql.Stats().OpenConnections == 0 { // as after most polls of a fleet
		return
	}
	for range cap(db.readers) {
		select {
		case s, open := <-db.readers:
			if open {
				s.closeIdle()
				db.readers <- s
			}
		default:
		}
	}
	db.writer.closeIdle()
	db.sql.SetMaxIdleConns(0)
	db.sql.SetMaxIdleConns(idleConns)
}

// idleConns is database/sql's default.
const idleConns = 2

// closeIdle closes a slot's connection unless it is in use.
func (s *slot) closeIdle() {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		s.drop()
	}
}

// fingerprintAge is the least age of a file's time for the fingerprint to be valid. A commit
// writes to the log, waits for the disk, and is visible after that: what is read meanwhile
// is from before it, and nothing shows when it ends. So the age has to be longer than any
// commit takes; pawl's end within StatementTimeout. At 50 ms, which the kernel's clock for
// files needs, a slow disk hid messages from a fleet until the next write.
const fingerprintAge = time.Minute

// Fingerprint returns size and time of the file and its log. Every commit writes one of them.
func (db *DB) Fingerprint() (print string, ok bool) {
	if db.file == "" {
		return "", false
	}
	text := make([]byte, 0, 64)
	for _, name := range []string{db.file, db.file + "-wal"} {
		info, err := os.Stat(name)
		if os.IsNotExist(err) && name != db.file {
			continue // the last connection deleted the log
		}
		if err == nil && name != db.file && info.Size() == 0 {
			continue // somebody opened the file, and committed nothing to the log
		}
		if err != nil || time.Since(info.ModTime()) < fingerprintAge {
			return "", false
		}
		text = append(strconv.AppendInt(text, info.Size(), 10), '/')
		text = append(strconv.AppendInt(text, info.ModTime().UnixNano(), 10), ' ')
	}
	return string(text), true
}
