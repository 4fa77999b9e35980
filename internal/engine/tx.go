package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
)

// Tx is a transaction in which statements run: *sql.Tx, and what has its method. A
// *sql.Conn fits while a transaction is open on it. A wrapper that hides a transaction may
// have a method CheckTx() error, which then decides whether it is one.
//
// pawl never commits, rolls back, retries or sets a savepoint in a caller's (D-3).
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// TxAdopter is a database that runs statements in transactions that are no Tx.
type TxAdopter interface {
	// AdoptTx returns a Tx for a transaction of the database's driver, and
	// [ErrNotInTransaction] for what is none.
	AdoptTx(given any) (Tx, error)
}

// TxOf returns the transaction that a caller gave: a Tx, one of the database's driver
// (pgx.Tx), or GORM's *gorm.DB, whose transaction is in a field. What is no transaction is
// refused with [ErrNotInTransaction] or [ErrInvalid], as CheckTx does.
func TxOf(db DB, given any) (Tx, error) {
	if own := gormPool(given); own != nil {
		given = own
	}
	if v := reflect.ValueOf(given); given == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, Invalid("transaction", "nil")
	}
	tx, ok := given.(Tx)
	if !ok {
		a, can := As[TxAdopter](db)
		if !can {
			return nil, NotInTransaction(given)
		}
		var err error
		if tx, err = a.AdoptTx(given); err != nil {
			return nil, err
		}
	}
	return tx, CheckTx(tx)
}

// gormPackage is where GORM's types come from.
const gormPackage = "gorm.io/gorm"

// gormPool returns what a *gorm.DB runs its statements with, or nil for anything else.
func gormPool(given any) any {
	v := reflect.Indirect(reflect.ValueOf(given))
	if !v.IsValid() || v.Kind() != reflect.Struct || v.Type().PkgPath() != gormPackage || v.Type().Name() != "DB" {
		return nil
	}
	statement := reflect.Indirect(v.FieldByName("Statement"))
	if statement.Kind() != reflect.Struct {
		return nil
	}
	pool := statement.FieldByName("ConnPool")
	if !pool.IsValid() || pool.Kind() != reflect.Interface || pool.IsNil() {
		return nil
	}
	return pool.Interface()
}

// ErrNotInTransaction says that what was given as the caller's transaction is a pool, or a
// connection on which no transaction is open. Each statement would commit by
// itself, and what it wrote would outlive the caller's rollback. Nothing was
// written.
var ErrNotInTransaction = errors.New("not in a transaction")

// CheckTx refuses a caller's transaction that is nil, and what is no transaction:
// pools, and wrappers that hold only a pool. It asks the database nothing. Whether
// a transaction is open on a single connection is for the engine to say, which
// does so before the first statement.
func CheckTx(tx Tx) error {
	switch t := tx.(type) {
	case nil:
		return Invalid("transaction", "nil")
	case *sql.Tx:
		if t == nil {
			return Invalid("transaction", "nil")
		}
		return nil
	case interface{ CheckTx() error }:
		return t.CheckTx()
	}
	v := reflect.ValueOf(tx)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return Invalid("transaction", "nil")
	}
	switch kind := kindOf(v.Type()); kind {
	case kindPool, kindUnknown:
		inside := executors(v, wrapperDepth)
		if inside == pools || kind == kindPool && inside != transactions {
			return NotInTransaction(tx)
		}
	}
	return nil
}

// NotInTransaction is the error for something that was given as a transaction.
func NotInTransaction(given any) error {
	return fmt.Errorf("%w: %w", ErrNotInTransaction,
		Invalid("transaction", "no transaction is open on this %T: begin one and pass that, a *sql.Tx, a pgx.Tx on PostgreSQL, or what embeds one", given))
}

// Conn is a single connection of database/sql: a *sql.Conn, or what embeds one.
type Conn interface {
	Tx
	Raw(f func(driverConn any) error) error
}

var (
	_ Tx   = (*sql.Tx)(nil)
	_ Conn = (*sql.Conn)(nil)
)

// kind is what a type's methods tell of it.
type kind int

const (
	kindUnknown     kind = iota
	kindTransaction      // can commit
	kindConnection       // a single connection
	kindPool             // begins transactions and commits none: a pool, or ent's client inside a transaction
)

// kindOf goes by methods' names, because what they return differs: BeginTx gives
// a *sql.Tx, a bun.Tx, an *ent.Tx or GORM's ConnPool, and pgx's Commit takes a
// context.
func kindOf(t reflect.Type) kind {
	if _, ok := t.MethodByName("Commit"); ok {
		return kindTransaction
	}
	if t.Implements(reflect.TypeFor[Conn]()) {
		return kindConnection
	}
	if _, ok := t.MethodByName("BeginTx"); ok {
		return kindPool
	}
	if _, ok := t.MethodByName("Begin"); ok {
		return kindPool
	}
	return kindUnknown
}

// wrapperDepth is how many wrappers may lie around each other.
const wrapperDepth = 4

// found are the kinds of things that a wrapper can run statements with.
type found int

const (
	transactions found = 1 << iota // or connections, which may be in one
	pools
)

// executors tells what a wrapper has in its fields to run statements with.
func executors(v reflect.Value, depth int) (sum found) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || depth == 0 {
		return 0
	}
	for i := range v.NumField() {
		sum |= executor(v.Field(i), depth-1)
	}
	return sum
}

// executor tells what one field of a wrapper is.
func executor(f reflect.Value, depth int) found {
	for f.Kind() == reflect.Interface {
		f = f.Elem()
	}
	if !f.IsValid() || f.Kind() == reflect.Pointer && f.IsNil() {
		return 0
	}
	t := f.Type()
	if f.Kind() == reflect.Struct {
		t = reflect.PointerTo(t) // its wrapper can call the methods of a pointer too
	}
	_, std := t.MethodByName("ExecContext")
	_, pgx := t.MethodByName("Exec")
	if !std && !pgx {
		return 0
	}
	switch kindOf(t) {
	case kindPool:
		return pools
	case kindUnknown:
		return executors(f, depth)
	}
	return transactions
}

// bunPackage is where bun's types come from. They write the arguments into the
// statement's text by rules of their own, which pawl's statements do not follow.
const bunPackage = "github.com/uptrace/bun"

// Plain returns the transaction to which statements and arguments go as they are:
// the *sql.Tx or *sql.Conn inside one of bun's, and any other transaction itself.
func Plain(tx Tx) Tx {
	if _, ok := tx.(*sql.Tx); ok {
		return tx
	}
	v := reflect.Indirect(reflect.ValueOf(tx))
	if v.Kind() != reflect.Struct || v.Type().PkgPath() != bunPackage {
		return tx
	}
	for i := range v.NumField() {
		if !v.Type().Field(i).Anonymous {
			continue
		}
		switch inner := v.Field(i).Interface().(type) {
		case *sql.Tx:
			return inner
		case *sql.Conn:
			return inner
		}
	}
	return tx
}
