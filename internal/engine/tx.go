package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
)

// Tx is a transaction in which statements run: a *sql.Tx, or a type with its method. A
// *sql.Conn can be used while a transaction is open on it. A wrapper that hides a transaction
// may have a method CheckTx() error, which then decides whether it is one.
//
// pawl never commits, rolls back, retries or sets a savepoint in a caller's (D-3).
type Tx = interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Querier is a transaction in which pawl can read: a *sql.Tx or *sql.Conn, or a type with its
// method. Only operations that return rows need it.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// QuerierOf returns what reads in a transaction, and an error if nothing can be read there.
func QuerierOf(tx Tx) (Querier, error) {
	if q, ok := tx.(Querier); ok {
		return q, nil
	}
	return nil, NoQuerier(tx)
}

// NoQuerier returns the error for a transaction in which nothing can be read.
func NoQuerier(tx Tx) error {
	return Invalid("transaction", "this %T has no QueryContext, which is needed to know what a statement returns", tx)
}

// TxAdopter is a database that runs statements in transactions that do not implement Tx.
type TxAdopter interface {
	// AdoptTx returns a Tx for a transaction of the database's driver, and
	// [ErrNotInTransaction] for any other value.
	AdoptTx(given any) (Tx, error)
}

// TxOf returns the transaction that a caller passed: a Tx, one of the database's driver
// (pgx.Tx), or GORM's *gorm.DB, whose transaction is in a field. Other values are refused
// with [ErrNotInTransaction] or [ErrInvalid], as CheckTx does.
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

// gormPackage is the package of GORM's types.
const gormPackage = "gorm.io/gorm"

// gormPool returns the ConnPool of a *gorm.DB, or nil for any other value.
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

// ErrNotInTransaction is returned when the value passed as the caller's transaction is a
// pool, or a connection on which no transaction is open. Each statement would commit by
// itself, and a rollback of the caller's would not undo it. Nothing was written.
var ErrNotInTransaction = errors.New("not in a transaction")

// CheckTx returns an error for a caller's transaction that is nil, and for what is no
// transaction: pools, and wrappers that contain only a pool. It makes no round trip. Whether
// a transaction is open on a single connection is checked by the engine before the first
// statement.
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

// NotInTransaction returns the error for a value that was passed as a transaction.
func NotInTransaction(given any) error {
	return fmt.Errorf("%w: %w", ErrNotInTransaction,
		Invalid("transaction", "no transaction is open on this %T: begin one and pass that, a *sql.Tx, a pgx.Tx on PostgreSQL, or what embeds one", given))
}

// Conn is a single connection of database/sql: a *sql.Conn, or a type that embeds one.
type Conn interface {
	Tx
	Raw(f func(driverConn any) error) error
}

var (
	_ Tx   = (*sql.Tx)(nil)
	_ Conn = (*sql.Conn)(nil)
)

// kind classifies a type by its methods.
type kind int

const (
	kindUnknown     kind = iota
	kindTransaction      // can commit
	kindConnection       // a single connection
	kindPool             // begins transactions and commits none: a pool, or ent's client inside a transaction
)

// kindOf tests methods by name, because what they return differs: BeginTx returns a
// *sql.Tx, a bun.Tx, an *ent.Tx or GORM's ConnPool, and pgx's Commit takes a context.
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

// wrapperDepth is how deep wrappers may be nested.
const wrapperDepth = 4

// contents are the kinds of executors in the fields of a wrapper.
type contents int

const (
	transactions contents = 1 << iota // or connections, which may be in a transaction
	pools
)

// executors returns the kinds of executors in a wrapper's fields.
func executors(v reflect.Value, depth int) (sum contents) {
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

// executor returns the kind of executor that one field of a wrapper is or contains.
func executor(f reflect.Value, depth int) contents {
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

// bunPackage is the package of bun's types. They format the arguments into the statement's
// text by rules of their own, which pawl's statements do not follow.
const bunPackage = "github.com/uptrace/bun"

// Plain returns the transaction that takes statements and arguments unchanged: the *sql.Tx
// or *sql.Conn inside one of bun's, and any other transaction itself.
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
