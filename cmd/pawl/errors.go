package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// databaseError is a failure to use the database that --db names.
type databaseError struct {
	database string // redacted
	err      error
}

func (e *databaseError) Error() string { return e.database + ": " + e.err.Error() }
func (e *databaseError) Unwrap() error { return e.err }
func (e *databaseError) isFile() bool  { return strings.HasPrefix(e.database, "sqlite:") }

// doneError is a failure after something was done, which must not be forgotten
// over it.
type doneError struct {
	done string
	err  error
}

func (e *doneError) Error() string { return e.done + ", then: " + e.err.Error() }
func (e *doneError) Unwrap() error { return e.err }

// exitError is a failure with an exit code of its own; without an error there is
// nothing to say about it.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}
func (e *exitError) Unwrap() error { return e.err }

// complain prints an error in one line, with what to do about it, and returns
// the exit code. Only a schedule is shown below that, and where it is wrong.
func (a *app) complain(err error, command, db string) int {
	text, code := explain(err), exitFailure
	var exit *exitError
	if errors.As(err, &exit) {
		if code = exit.code; exit.err == nil {
			return code
		}
	}
	var mistake *usageError
	if errors.As(err, &mistake) {
		code = exitUsage
		text += fmt.Sprintf(" (see %q)", strings.Join(append(commandWords(command), "--help"), " "))
	}
	fmt.Fprintln(a.stderr, "pawl: "+terminal.Clean(oneLine(text)))
	var schedule *scheduleError
	if errors.As(err, &schedule) {
		fmt.Fprint(a.stderr, schedule.picture())
	}
	return code
}

// commandWords are the words of a command as kong puts it, without its
// arguments: "joins show" of "joins show <id>".
func commandWords(command string) []string {
	words := []string{"pawl"}
	for _, word := range strings.Fields(command) {
		if strings.ContainsAny(word, "<[") {
			break
		}
		words = append(words, word)
	}
	return words
}

// explain says what went wrong, where, and what helps.
func explain(err error) string {
	var after *doneError
	if errors.As(err, &after) {
		return after.done + ", then: " + explain(after.err)
	}
	var at *databaseError
	if !errors.As(err, &at) {
		return err.Error()
	}
	db, cause := at.database, cause(at.err)
	switch {
	case errors.Is(err, engine.ErrSchemaMissing):
		return fmt.Sprintf("%s has no pawl tables: run \"pawl migrate\" first", db)
	case errors.Is(err, engine.ErrSchemaOld), errors.Is(err, engine.ErrSchemaNew), errors.Is(err, engine.ErrSchemaChanged), errors.Is(err, engine.ErrSchemaDistributed):
		return fmt.Sprintf("%s: %s", db, cause)
	case errors.Is(err, engine.ErrReadOnly):
		return fmt.Sprintf("%s is read-only: %s", db, cause)
	case errors.Is(err, engine.ErrFileLost):
		return fmt.Sprintf("%s: %s", db, cause)
	case errors.Is(err, engine.ErrUnreachable), errors.Is(err, engine.ErrConnLost):
		verb := "reach"
		if at.isFile() {
			verb = "open"
		}
		return fmt.Sprintf("cannot %s %s: %s", verb, db, cause)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, engine.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%s did not answer in time: %s", db, cause)
	case errors.Is(err, engine.ErrCommitUnknown):
		return fmt.Sprintf("%s went away while it committed, it may or may not have: %s", db, cause)
	}
	return fmt.Sprintf("%s: %s", db, cause)
}

// forgotten reminds who looks for something that it is not kept forever.
func forgotten(err error) error {
	for _, gone := range []error{outbox.ErrNotFound, join.ErrNotFound, inbox.ErrNotFound, timer.ErrNotFound} {
		if errors.Is(err, gone) {
			return fmt.Errorf("%w (or it was cleaned up)", err)
		}
	}
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
