package blob

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// SQL stores blobs in a table of a SQLite or PostgreSQL database. In pawl's own database it writes
// in the transaction in which a message is enqueued (see TxStore). Set the fields before the first
// call.
type SQL struct {
	// DB is the database: sqlite.SQL(db), or for a pgx pool stdlib.OpenDBFromPool(pool).
	DB *sql.DB
	// Table is the table's name, on PostgreSQL with or without its schema. Default: pawl_blob.
	Table string
}

// The statements suit both databases: SQLite stores bytes in a column of any type, and takes
// parameters of PostgreSQL's form.
const (
	createTable = `CREATE TABLE IF NOT EXISTS pawl_blob ("key" text PRIMARY KEY, created_at bigint NOT NULL, data bytea NOT NULL)`
	createIndex = `CREATE INDEX IF NOT EXISTS pawl_blob_created_at ON pawl_blob (created_at)`
	insert      = `INSERT INTO pawl_blob ("key", created_at, data) VALUES ($1, $2, $3)`
	query       = `SELECT data FROM pawl_blob WHERE "key" = $1`
	expire      = `DELETE FROM pawl_blob WHERE "key" IN (SELECT "key" FROM pawl_blob WHERE created_at < $1 ORDER BY created_at LIMIT 100)`
)

// tableName is a name that needs no quotes.
var tableName = regexp.MustCompile(`^(\w+\.)?[A-Za-z_]\w*$`)

// Migrate creates the table, unless it exists.
func (s *SQL) Migrate(ctx context.Context) error {
	for _, statement := range []string{createTable, createIndex} {
		text, err := s.text(statement)
		if err != nil {
			return err
		}
		// On PostgreSQL IF NOT EXISTS can fail while another process creates the same.
		if _, err = s.DB.ExecContext(ctx, text); err != nil {
			_, err = s.DB.ExecContext(ctx, text)
		}
		if err != nil {
			return fmt.Errorf("blob: create table: %w", err)
		}
	}
	return nil
}

// Put stores a blob in a transaction of its own.
func (s *SQL) Put(ctx context.Context, key string, data []byte) error {
	if _, err := s.text(insert); err != nil {
		return err
	}
	return s.PutTx(ctx, s.DB, key, data)
}

// PutTx stores a blob in a transaction of the database.
func (s *SQL) PutTx(ctx context.Context, tx Tx, key string, data []byte) error {
	text, err := s.text(insert)
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte{}
	}
	_, err = tx.ExecContext(ctx, text, key, time.Now().UnixMicro(), data)
	return err
}

// Get returns a blob.
func (s *SQL) Get(ctx context.Context, key string) (data []byte, err error) {
	text, err := s.text(query)
	if err != nil {
		return nil, err
	}
	err = s.DB.QueryRowContext(ctx, text, key).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	return data, err
}

// Expire deletes blobs that were put more than olderThan ago, by the clocks of the processes that
// put them, 100 in each transaction. It returns how many it deleted.
func (s *SQL) Expire(ctx context.Context, olderThan time.Duration) (deleted int, err error) {
	text, err := s.text(expire)
	if err != nil {
		return 0, err
	}
	before := time.Now().Add(-olderThan).UnixMicro()
	for {
		result, err := s.DB.ExecContext(ctx, text, before)
		if err != nil {
			return deleted, err
		}
		n, err := result.RowsAffected()
		deleted += int(n)
		if err != nil || n == 0 {
			return deleted, err
		}
	}
}

// text returns a statement with the name of the table.
func (s *SQL) text(statement string) (string, error) {
	table := cmp.Or(s.Table, "pawl_blob")
	switch {
	case s.DB == nil:
		return "", errors.New("blob: SQL.DB is nil")
	case !tableName.MatchString(table):
		return "", fmt.Errorf("blob: %q cannot be the name of a table", table)
	}
	index := strings.ReplaceAll(table, ".", "_") + "_created_at"
	return strings.NewReplacer("pawl_blob_created_at", index, "pawl_blob", table).Replace(statement), nil
}
