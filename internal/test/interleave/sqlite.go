package interleave

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/bravellian/pawl/internal/engine"
)

// SQLite runs a scenario's sessions on databases of their own that share a file, as processes
// would. A transaction begins with BEGIN IMMEDIATE and so runs alone: a step is a whole one.
type SQLite struct {
	world    *world
	sessions []engine.DB
	next     []int
}

// NewSQLite uses databases that are open on one file, pool for its own statements.
func NewSQLite(ctx context.Context, pool *sql.DB, sessions ...engine.DB) (*SQLite, error) {
	m := &SQLite{world: newWorld(sessions[0], func(name string) string { return name }), sessions: sessions}
	m.world.read = func(ctx context.Context, query string) (all []row, err error) {
		rows, err := pool.QueryContext(ctx, query)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var r row
			if err := rows.Scan(&r.Table, &r.ID, &r.A, &r.B, &r.C, &r.Name, &r.More); err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		return all, rows.Err()
	}
	return m, m.world.register(ctx)
}

// Set chooses the scenario.
func (m *SQLite) Set(s *Scenario) { m.world.scenario = s }

// Start implements Machine.
func (m *SQLite) Start() error {
	m.next = make([]int, len(m.world.scenario.Sessions))
	return m.world.start(context.Background())
}

// Runnable implements Machine.
func (m *SQLite) Runnable() (list []int) {
	for i, txs := range m.world.scenario.Sessions {
		if m.next[i] < len(txs) {
			list = append(list, i)
		}
	}
	return list
}

// Advance implements Machine.
func (m *SQLite) Advance(i int) error {
	work := &m.world.scenario.Sessions[i][m.next[i]]
	m.next[i]++
	db, events := m.sessions[i%len(m.sessions)], []Event(nil)
	ctx := context.Background()
	err := db.InTx(ctx, func(ctx context.Context, tx engine.Tx) error {
		events = nil
		e := Env{DB: db, Session: i, Table: m.world.table, events: &events, tokens: &m.world.tokens}.in(tx)
		for _, a := range work.Actions {
			if err := a.Do(ctx, e); err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
		}
		if work.Rollback {
			return errRollback
		}
		return nil
	})
	switch {
	case errors.Is(err, errRollback):
		events = nil
	case err != nil:
		m.world.wrong("session %c: %v", 'A'+i, err)
		m.next[i] = len(m.world.scenario.Sessions[i])
		events = nil
	}
	return m.world.committed(ctx, events)
}

// Finish implements Machine.
func (m *SQLite) Finish() error { return m.world.finish(context.Background()) }

var errRollback = errors.New("the scenario rolls it back")
