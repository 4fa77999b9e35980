package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/bravellian/pawl/torture/internal/quick"
)

// Final reads what the database says at the end of a round.
func (s *Store) Final(ctx context.Context) (*quick.Final, error) {
	f := &quick.Final{
		Messages: map[string]quick.State{}, Effects: map[string]int{}, Joins: map[string]quick.Join{},
		Timers: map[string]string{}, Limits: map[string]int{},
	}
	for _, read := range []func(context.Context, *quick.Final) error{
		s.ledger, s.messages, s.effects, s.guards, s.joins, s.timers, s.runs, s.limits,
	} {
		if err := read(ctx, f); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// each calls scan for every row of a query.
func (s *Store) each(ctx context.Context, query string, scan func(rows *sql.Rows) error) error {
	rows, err := s.SQL.QueryContext(ctx, s.Text(query))
	if err != nil {
		return fmt.Errorf("reading the final state: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *Store) ledger(ctx context.Context, f *quick.Final) error {
	return s.each(ctx, `SELECT id FROM {s}torture_ledger ORDER BY id`, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		f.Ledger = append(f.Ledger, id)
		return err
	})
}

func (s *Store) messages(ctx context.Context, f *quick.Final) error {
	return s.each(ctx, `SELECT CAST(message_id AS text), topic, queue, status, retry_count FROM {s}outbox`, func(rows *sql.Rows) error {
		var id string
		var m quick.State
		err := rows.Scan(&id, &m.Topic, &m.Queue, &m.Status, &m.Attempts)
		f.Messages[id] = m
		return err
	})
}

func (s *Store) effects(ctx context.Context, f *quick.Final) error {
	return s.each(ctx, `SELECT source, id, count(*) FROM {s}torture_effect GROUP BY source, id`, func(rows *sql.Rows) error {
		var source, id string
		var n int
		err := rows.Scan(&source, &id, &n)
		f.Effects[source+"/"+id] = n
		return err
	})
}

func (s *Store) guards(ctx context.Context, f *quick.Final) error {
	return s.each(ctx, `SELECT name, token FROM {s}torture_guard ORDER BY n`, func(rows *sql.Rows) error {
		var g quick.Guard
		err := rows.Scan(&g.Name, &g.Token)
		f.Guards = append(f.Guards, g)
		return err
	})
}

func (s *Store) joins(ctx context.Context, f *quick.Final) error {
	const query = `
SELECT CAST(j.join_id AS text), j.expected_steps, j.completed_steps, j.failed_steps, j.status,
       (SELECT count(*) FROM {s}outbox_join_members m WHERE m.join_id = j.join_id AND m.status = 1)
  FROM {s}outbox_joins j`
	return s.each(ctx, query, func(rows *sql.Rows) error {
		var id string
		var j quick.Join
		err := rows.Scan(&id, &j.Expected, &j.Completed, &j.Failed, &j.Status, &j.Members)
		f.Joins[id] = j
		return err
	})
}

func (s *Store) timers(ctx context.Context, f *quick.Final) error {
	return s.each(ctx, `SELECT CAST(id AS text), status FROM {s}timers`, func(rows *sql.Rows) error {
		var id, status string
		err := rows.Scan(&id, &status)
		f.Timers[id] = status
		return err
	})
}

func (s *Store) runs(ctx context.Context, f *quick.Final) error {
	return s.each(ctx, `SELECT job_name, scheduled_time, status, missed FROM {s}job_runs WHERE NOT triggered ORDER BY job_name, scheduled_time`, func(rows *sql.Rows) error {
		var r quick.JobRun
		var nominal any
		if err := rows.Scan(&r.Job, &nominal, &r.Status, &r.Missed); err != nil {
			return err
		}
		at, err := asTime(nominal)
		r.Nominal = at.UnixNano()
		f.Runs = append(f.Runs, r)
		return err
	})
}

// asTime reads a time, which SQLite's view has as text.
func asTime(v any) (time.Time, error) {
	switch v := v.(type) {
	case time.Time:
		return v, nil
	case string:
		return time.Parse(time.RFC3339Nano, v)
	}
	return time.Time{}, fmt.Errorf("a time of type %T", v)
}

func (s *Store) limits(ctx context.Context, f *quick.Final) error {
	return s.each(ctx, `SELECT name, coalesce(concurrency, 0) FROM {s}outbox_limit WHERE kind = 'topic'`, func(rows *sql.Rows) error {
		var name string
		var n int
		err := rows.Scan(&name, &n)
		f.Limits[name] = n
		return err
	})
}

// Left counts what a round still has to do, by kind.
func (s *Store) Left(ctx context.Context) (map[string]int, error) {
	left := map[string]int{}
	const query = `
SELECT 'messages ready', coalesce(sum(n), 0) FROM {s}outbox_ready
UNION ALL SELECT 'messages claimed', coalesce(sum(n), 0) FROM {s}outbox_claim
UNION ALL SELECT 'timers', count(*) FROM {s}timer WHERE status < 2
UNION ALL SELECT 'joins', count(*) FROM {s}outbox_join WHERE status = 0`
	err := s.each(ctx, query, func(rows *sql.Rows) error {
		var kind string
		var n int
		err := rows.Scan(&kind, &n)
		if n > 0 {
			left[kind] = n
		}
		return err
	})
	return left, err
}
