// Package scene is what the demo's scenes share: tables of their own beside
// pawl's, effects that happen once, and questions to the database afterwards.
package scene

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// Database is where the scenes keep their tables, beside pawl's. In their SQL
// "pawl." stands for the schema of both, as it does in pawl's own.
type Database struct {
	SQL   *sql.DB
	Names engine.Names
	// Dollars says that parameters are $1 and not ?1.
	Dollars bool
}

// Create makes tables: statements that end with a semicolon and a line end.
func (d *Database) Create(ctx context.Context, tables string) error {
	return d.Transact(ctx, func(tx *sql.Tx) error {
		for statement := range strings.SplitSeq(d.Names.Render(tables), ";\n") {
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

// Text puts names and parameters into the form that the database wants.
func (d *Database) Text(query string) string {
	query = d.Names.Render(query)
	if d.Dollars {
		query = strings.ReplaceAll(query, "?", "$")
	}
	return query
}

// Transact commits what do did, or nothing of it.
func (d *Database) Transact(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // the error that matters came before
		return err
	}
	return tx.Commit()
}

// Question is a query that answers with one number.
type Question struct {
	Into *int64
	Text string
}

// Ask asks the questions of a verdict.
func (d *Database) Ask(ctx context.Context, questions []Question) error {
	for _, q := range questions {
		if err := d.SQL.QueryRowContext(ctx, d.Text(q.Text)).Scan(q.Into); err != nil {
			return fmt.Errorf("verdict: %w", err)
		}
	}
	return nil
}
