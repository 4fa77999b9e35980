package main

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	"github.com/google/uuid"
	_ "modernc.org/sqlite" // the driver that pawl uses

	"github.com/bravellian/pawl/bench/internal/peers"
)

// plainSQLite is one table in one file with one connection, which is as fast
// as writing gets there. Rows are read and deleted in one transaction.
type plainSQLite struct {
	db             *sql.DB
	add, get, drop *sql.Stmt
}

func newPlainSQLite(relaxed bool) maker {
	return func(ctx context.Context, r *run) (floor, error) {
		mode := "FULL"
		if relaxed {
			mode = "NORMAL"
		}
		pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(" + mode + ")"}}.Encode()
		db, err := sql.Open("sqlite", "file:"+filepath.Join(r.dir, "bench.db")+"?"+pragmas)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		if _, err := db.ExecContext(ctx, `CREATE TABLE plain (id INTEGER PRIMARY KEY, message_id BLOB NOT NULL, topic TEXT NOT NULL,
			payload ANY NOT NULL, created_at INTEGER NOT NULL) STRICT`); err != nil {
			return nil, err
		}
		p := &plainSQLite{db: db}
		return p, p.prepare(ctx)
	}
}

func (p *plainSQLite) prepare(ctx context.Context) (err error) {
	if p.add, err = p.db.PrepareContext(ctx, `INSERT INTO plain (id, message_id, topic, payload, created_at) VALUES (?1, ?2, ?3, ?4, 0)`); err != nil {
		return err
	}
	if p.get, err = p.db.PrepareContext(ctx, `SELECT id, message_id, topic, payload FROM plain ORDER BY id LIMIT ?1`); err != nil {
		return err
	}
	p.drop, err = p.db.PrepareContext(ctx, `DELETE FROM plain WHERE id <= ?1`)
	return err
}

func (p *plainSQLite) insert(ctx context.Context, ids []int64) error {
	if len(ids) == 1 {
		return p.row(ctx, p.add, ids[0])
	}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	add := tx.StmtContext(ctx, p.add)
	for _, id := range ids {
		if err := p.row(ctx, add, id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (p *plainSQLite) row(ctx context.Context, add *sql.Stmt, id int64) error {
	mid := uuid.New()
	_, err := add.ExecContext(ctx, id, mid[:], topic(int(id)), string(peers.Body(id)))
	return err
}

func (p *plainSQLite) insertTx(ctx context.Context, id int64) error {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := p.row(ctx, tx.StmtContext(ctx, p.add), id); err != nil {
		return err
	}
	return tx.Commit()
}

func (p *plainSQLite) take(ctx context.Context, n int) (taken int, err error) {
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	get, drop := tx.StmtContext(ctx, p.get), tx.StmtContext(ctx, p.drop)
	defer get.Close()
	defer drop.Close()
	rows, err := get.QueryContext(ctx, n)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var last int64
	for rows.Next() {
		var m row
		var mid []byte
		if err := rows.Scan(&m.id, &mid, &m.topic, &m.payload); err != nil {
			return 0, err
		}
		last, taken = m.id, taken+1
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if taken > 0 {
		if _, err := drop.ExecContext(ctx, last); err != nil {
			return 0, err
		}
	}
	return taken, tx.Commit()
}

func (p *plainSQLite) close() {
	p.add.Close()
	p.get.Close()
	p.drop.Close()
	p.db.Close()
}
