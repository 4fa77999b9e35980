// Package blob stores large payloads outside messages, for pawl.Offload: in files, in a table, or
// wherever a Store of the program puts them.
package blob

import (
	"context"
	"database/sql"
	"errors"
)

var (
	// ErrNotFound is returned for a key that a store does not have.
	ErrNotFound = errors.New("not found")
	// ErrChanged is returned when a store returns other data than was put: its length or its
	// SHA-256 is not that in the message.
	ErrChanged = errors.New("not what was stored")
)

// Store stores blobs. It must be safe for concurrent use. Each key is put once, with all of its
// data, and is a UUID: 36 characters, 0-9, a-f and "-". When blobs are deleted is the program's
// decision; see docs/payloads.md. pawltest.CheckStore tests a Store.
type Store interface {
	// Put stores data under a key. It returns nil only if the data survives a crash from then
	// on: the message that refers to it is stored next.
	Put(ctx context.Context, key string, data []byte) error
	// Get returns what was put under a key, and an error that errors.Is finds to be ErrNotFound
	// if there is nothing. Any other error is taken for one that passes.
	Get(ctx context.Context, key string) ([]byte, error)
}

// TxStore is a Store that can also write in the transaction in which a message is enqueued: a
// rollback leaves nothing, and on SQLite a second connection could not write.
type TxStore interface {
	Store
	// PutTx is Put in a transaction.
	PutTx(ctx context.Context, tx Tx, key string, data []byte) error
}

// Tx is a transaction of the program, as pawl.Tx is.
type Tx = interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}
