package evidence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
)

// isolation tries an enqueue at every level that the driver has. One that does not work is refused as such.
func isolation(ctx context.Context, w *world) (string, error) {
	p, err := w.pawl()
	if err != nil {
		return "", err
	}
	pool := w.sql()
	var seen []string
	for _, level := range []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSnapshot, sql.LevelSerializable} {
		tx, err := pool.BeginTx(ctx, &sql.TxOptions{Isolation: level})
		if err != nil { // of the driver, or of a database that has not turned it on
			seen = append(seen, level.String()+" not to be had")
			continue
		}
		_, err = p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "evidence", Queue: "isolation"})
		_ = tx.Rollback() // an error may have ended it
		switch {
		case err == nil:
			seen = append(seen, level.String()+" works")
		case errors.Is(err, pawl.ErrIsolation):
			seen = append(seen, level.String()+" is refused")
		default:
			return "", fmt.Errorf("%s: %w", level, err)
		}
		if level == sql.LevelReadCommitted && err != nil {
			return "", fmt.Errorf("%s: %w", level, err)
		}
	}
	return strings.Join(seen, ", "), nil
}

// deadlock has two transactions lock two rows in opposite orders.
func deadlock(ctx context.Context, w *world) (string, error) {
	if w.oneWriter() {
		return "", skip("there is one writer at a time")
	}
	pool, table := w.sql(), w.Table("evidence_rows")
	for _, text := range []string{"CREATE TABLE " + table + " (id int NOT NULL PRIMARY KEY, n int NOT NULL)", "INSERT INTO " + table + " (id, n) VALUES (1, 0), (2, 0)"} {
		if _, err := pool.ExecContext(ctx, text); err != nil {
			return "", err
		}
	}
	var txs [2]*sql.Tx
	for i := range txs {
		tx, err := pool.BeginTx(ctx, nil)
		if err != nil {
			return "", err
		}
		defer func() { _ = tx.Rollback() }() // the one that won
		txs[i] = tx
		if err := change(ctx, tx, table, i+1); err != nil {
			return "", err
		}
	}
	var failures [2]error
	var both sync.WaitGroup
	for i, tx := range txs {
		both.Go(func() {
			failures[i] = change(ctx, tx, table, 2-i)
			_ = tx.Rollback() // or the other one waits on
		})
	}
	both.Wait()
	err := errors.Join(failures[:]...)
	switch {
	case err == nil:
		return "", wrong("two transactions in opposite orders both went through")
	case ctx.Err() != nil:
		return "", wrong("the server ended neither of two transactions that wait for each other: %w", err)
	case !pawl.Retryable(err):
		return "", fmt.Errorf("not known as one: %w", err)
	}
	return "known as such", nil
}

func change(ctx context.Context, tx *sql.Tx, table string, id int) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET n = n + 1 WHERE id = %d", table, id))
	return err
}
