package anydriver

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
)

// Result codes of SQLite, with their extended forms where those matter.
const (
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeInterrupt  = 9
	codeIOErr      = 10
	codeFull       = 13
	codeCantOpen   = 14
	codeNotADB     = 26
	codeUnique     = 2067
	codePrimaryKey = 1555
	codeRowID      = 2579
)

// classify returns the class of a driver's error, or nil.
func classify(err error) error {
	if code, ok := driverr.ResultCode(err); ok {
		return classOf(code, err)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, driver.ErrBadConn):
		return engine.ErrConnLost
	case errors.Is(err, context.DeadlineExceeded):
		return engine.ErrTimeout
	}
	return nil
}

func classOf(code int, err error) error {
	switch code {
	case codeUnique, codePrimaryKey, codeRowID:
		return keyClass(err)
	}
	switch code & 0xff {
	case codeBusy, codeLocked:
		return engine.ErrBusy
	case codeReadOnly:
		return engine.ErrReadOnly
	case codeInterrupt:
		return engine.ErrTimeout
	case codeFull:
		return engine.ErrNoRoom
	case codeCantOpen, codeNotADB:
		return engine.ErrUnreachable
	}
	if moved := engine.MovedClass(err.Error()); moved != nil {
		return moved
	}
	if strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such view") {
		return engine.ErrSchemaMissing
	}
	return nil
}

// keyClass distinguishes positions that are taken from other keys. Positions are the primary
// keys of messages, runs, timers and runs of jobs.
func keyClass(err error) error {
	for _, key := range []string{"outbox_message.id", "outbox_ready.lo", "timer.id", "job_run.id"} {
		if text := err.Error(); strings.Contains(text, key+" ") || strings.HasSuffix(text, key) {
			return engine.ErrPosition
		}
	}
	return engine.ErrUnique
}

// wrap adds the operation and the class to an error, and what helps against a file that cannot be used.
func wrap(op string, err error) error {
	var known *engine.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	class := classify(err)
	if errors.Is(class, engine.ErrUnreachable) {
		help := "check the rights on the file and its directory"
		if code, _ := driverr.ResultCode(err); code&0xff == codeNotADB {
			help = "name a SQLite file, or a path without a file"
		}
		err = fmt.Errorf("%w; %s", err, help)
	}
	return &engine.Error{Op: op, Class: class, Err: err}
}

// openError is wrap of the error of opening a file, which may be none.
func openError(path string, err error) error {
	op, file := fmt.Sprintf("open sqlite %q", path), fileOf(path)
	var why error
	switch scheme := dsn.Scheme(file); {
	case scheme != "" && strings.Contains(file, "://"):
		op = "open sqlite" // a URL may have a password
		why = fmt.Errorf("%s:// is no SQLite file; name its path, or open another engine", scheme)
	case file == "":
	case isDir(file):
		why = fmt.Errorf("it is a directory; name a file in it, such as %s", filepath.Join(file, "pawl.db"))
	case !isDir(filepath.Dir(file)):
		why = fmt.Errorf("no such directory: %s; make it, or name another", filepath.Dir(file))
	}
	if why == nil && classify(err) != nil {
		return wrap(op, err)
	}
	return &engine.Error{Op: op, Class: engine.ErrUnreachable, Err: cmp.Or(why, err)}
}

// checkPath returns an error for an ADO.NET connection string: it would become the name of a file.
func checkPath(path string) error {
	address, err := dsn.ADO(path)
	if err == nil && address != path {
		err = fmt.Errorf("%w of SQL Server", dsn.ErrADO)
	}
	if err != nil {
		return fmt.Errorf("open sqlite: %w", err)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
