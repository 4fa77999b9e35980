package anydriver

import (
	"reflect"
	"slices"

	"github.com/bravellian/pawl/internal/engine"
)

// answers are the operations that take more than one statement on SQLite, each with the Go
// function that implements it.
type answers map[reflect.Type]opFunc

// newAnswers returns all of them.
func newAnswers() answers {
	a := answers{}
	a.audit()
	a.doctor()
	a.doctorJoins()
	a.doctorOrder()
	a.generations()
	a.inbox()
	a.jobs()
	a.joins()
	a.leases()
	a.backlog()
	a.outboxes()
	a.pauses()
	a.limits()
	a.timers()
	return a
}

// counting adds the implementation of an operation that returns a number, or how many rows
// it changed.
func counting[O engine.Operation](a answers, f func(t *txn, o O) (int64, error)) {
	a[reflect.TypeFor[O]()] = func(t *txn, c *engine.Call) (err error) {
		c.N, err = f(t, c.Operation.(O))
		return err
	}
}

// listing adds the implementation of an operation that returns rows.
func listing[O engine.Operation](a answers, f func(t *txn, o O, each func(engine.Row) error) error) {
	a[reflect.TypeFor[O]()] = func(t *txn, c *engine.Call) error { return f(t, c.Operation.(O), c.Each) }
}

// has reports whether an operation is implemented in Go.
func (a answers) has(o engine.Operation) bool { return a[reflect.TypeOf(o)] != nil }

// answer runs a call.
func (db *DB) answer(t *txn, c *engine.Call) (err error) {
	if f := db.answers[reflect.TypeOf(c.Operation)]; f != nil {
		return f(t, c)
	}
	if c.Each != nil {
		return t.ask(c.Operation, c.Each)
	}
	c.N, err = t.change(c.Operation)
	return err
}

// statements returns the statements that the implementations run, each with zero fields.
func statements() []engine.Operation {
	return slices.Concat(
		auditStatements(), doctorStatements(), doctorJoinStatements(), doctorOrderStatements(), generationStatements(), inboxStatements(), jobStatements(), joinStatements(),
		leaseStatements(), backlogStatements(), outboxStatements(), pauseStatements(), limitStatements(), timerStatements(),
	)
}
