// Package scene has what the demo's scenes share: tables beside pawl's, effects that
// happen once, and questions to the database afterwards.
package scene

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Database has the scenes' tables, beside pawl's. In their SQL "pawl." stands for the
// schema of both, and ?1 for a parameter.
type Database struct {
	SQL     *sql.DB
	Prefix  string // what "pawl." stands for
	Dollars bool   // parameters are $1 and not ?1
}

// Create makes tables: statements that end with a semicolon and a line end.
func (d *Database) Create(ctx context.Context, tables string) error {
	return d.Transact(ctx, func(tx *sql.Tx) error {
		for statement := range strings.SplitSeq(d.Text(tables), ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// Text returns a query with names and parameters as the database takes them.
func (d *Database) Text(query string) string {
	query = strings.ReplaceAll(query, "pawl.", d.Prefix)
	if d.Dollars {
		query = strings.ReplaceAll(query, "?", "$")
	}
	return query
}

// Transact commits what do did, or rolls it back if do returns an error.
func (d *Database) Transact(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // err says more
		return err
	}
	return tx.Commit()
}

// Question is a query that answers with one number.
type Question struct {
	Into *int64
	Text string
}

// Ask answers questions.
func (d *Database) Ask(ctx context.Context, questions []Question) error {
	for _, q := range questions {
		if err := d.SQL.QueryRowContext(ctx, d.Text(q.Text)).Scan(q.Into); err != nil {
			return fmt.Errorf("verdict: %w", err)
		}
	}
	return nil
}
