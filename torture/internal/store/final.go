package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/torture/internal/check"
	"github.com/bravellian/pawl/torture/internal/history"
)

// Final is what the database says at the end of a round.
type Final struct {
	Ledger   []string        `json:"ledger"` // ids of messages whose transaction committed
	Messages []check.Message `json:"messages"`
	Effects  []check.Effect  `json:"effects"`
	Guards   []check.Guard   `json:"guards"`
	Joins    []check.Join    `json:"joins"` // but those of flows
	Flows    []check.Flow    `json:"flows"`
	Timers   []check.Timer   `json:"timers"`
	Runs     []check.Run     `json:"runs"`
	Counted  int64           `json:"counted"` // messages that workers counted as done
}

// Check is the state as the check takes it.
func (f *Final) Check() check.Final {
	return check.Final{
		Ledger: slices.Values(f.Ledger), Messages: slices.Values(f.Messages), Effects: slices.Values(f.Effects),
		Guards: slices.Values(f.Guards), Joins: f.Joins, Flows: slices.Values(f.Flows), Timers: f.Timers, Runs: slices.Values(f.Runs), Counted: &f.Counted,
	}
}

// Final reads what the database says at the end of a round, of which a job has runs at
// intervals of every.
func (s *Store) Final(ctx context.Context, every time.Duration) (*Final, error) {
	f := &Final{}
	runs := func(ctx context.Context, f *Final) error { return s.runs(ctx, f, every) }
	for _, read := range []func(context.Context, *Final) error{s.ledger, s.messages, s.effects, s.guards, s.joins, s.flows, s.timers, s.counted, runs} {
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

func (s *Store) counted(ctx context.Context, f *Final) error {
	return s.each(ctx, `SELECT coalesce(sum(done), 0) FROM {s}activity WHERE grain = 1`, func(rows *sql.Rows) error { return rows.Scan(&f.Counted) })
}

func (s *Store) ledger(ctx context.Context, f *Final) error {
	return s.each(ctx, `SELECT id FROM {s}torture_ledger`, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		f.Ledger = append(f.Ledger, id)
		return err
	})
}

func (s *Store) messages(ctx context.Context, f *Final) error {
	states := map[int]check.State{0: check.Ready, 1: check.Claimed, 2: check.Done, 3: check.Failed, 4: check.Discarded, 5: check.Expired}
	return s.each(ctx, `SELECT CAST(message_id AS text), status, retry_count FROM {s}outbox`, func(rows *sql.Rows) error {
		var m check.Message
		var status int
		if err := rows.Scan(&m.ID, &status, &m.Attempts); err != nil {
			return err
		}
		if m.State = states[status]; m.State == check.Absent {
			return fmt.Errorf("message %s has status %d", m.ID, status)
		}
		f.Messages = append(f.Messages, m)
		return nil
	})
}

func (s *Store) effects(ctx context.Context, f *Final) error {
	return s.each(ctx, `SELECT source, id, count(*) FROM {s}torture_effect GROUP BY source, id`, func(rows *sql.Rows) error {
		var e check.Effect
		err := rows.Scan(&e.Source, &e.Message, &e.Count)
		f.Effects = append(f.Effects, e)
		return err
	})
}

func (s *Store) guards(ctx context.Context, f *Final) error {
	return s.each(ctx, `SELECT name, token FROM {s}torture_guard ORDER BY n`, func(rows *sql.Rows) error {
		var g check.Guard
		err := rows.Scan(&g.Name, &g.Token)
		f.Guards = append(f.Guards, g)
		return err
	})
}

// joins reads joins; a wait has fired when its message is done.
func (s *Store) joins(ctx context.Context, f *Final) error {
	id := `j.join_id`
	if !s.place.OnServer() {
		id = `unhex(replace(j.join_id, '-', ''))` // the view has it as text
	}
	const query = `
SELECT CAST(j.join_id AS text), j.expected_steps, j.completed_steps, j.failed_steps,
       (SELECT count(*) FROM {s}{waits} w JOIN {s}outbox o ON o.id = w.id WHERE w.join_id = {id} AND o.status = 2)
  FROM {s}outbox_joins j WHERE coalesce(j.grouping_key, '') = ''`
	return s.each(ctx, strings.Replace(query, "{id}", id, 1), func(rows *sql.Rows) error {
		var j check.Join
		err := rows.Scan(&j.Name, &j.Total, &j.Done, &j.Failed, &j.Fired)
		f.Joins = append(f.Joins, j)
		return err
	})
}

// flows reads what flows and their steps have written, and how they ended.
func (s *Store) flows(ctx context.Context, f *Final) error {
	const query = `
SELECT id, what, CAST(count(*) AS text) FROM {s}torture_flow GROUP BY id, what
UNION ALL SELECT id, 'signal', CAST(n AS text) FROM {s}torture_signal
UNION ALL SELECT CAST(o.message_id AS text), 'error', o.last_error FROM {s}outbox o WHERE o.topic = ? AND o.status = 3
UNION ALL SELECT CAST(o.message_id AS text), 'result', {utf8} FROM {s}outbox o JOIN {s}outbox_result r ON r.id = o.id WHERE o.topic = ?
ORDER BY 1, 2, 3`
	rows, err := s.SQL.QueryContext(ctx, s.Text(query), history.FlowTopic, history.FlowTopic)
	if err != nil {
		return fmt.Errorf("reading flows: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, what string
		var value sql.NullString
		if err := rows.Scan(&id, &what, &value); err != nil {
			return err
		}
		if n := len(f.Flows); n == 0 || f.Flows[n-1].ID != id {
			f.Flows = append(f.Flows, check.Flow{ID: id, Rows: map[string]int{}})
		}
		flow := &f.Flows[len(f.Flows)-1]
		n, _ := strconv.ParseInt(value.String, 10, 64)
		switch what {
		case "error":
			flow.Error = value.String
		case "result":
			flow.Result = value.String
		case "signal":
			flow.Signals = append(flow.Signals, n)
		default:
			flow.Rows[what] = int(n)
		}
	}
	return rows.Err()
}

func (s *Store) timers(ctx context.Context, f *Final) error {
	return s.each(ctx, `SELECT CAST(id AS text) FROM {s}timers WHERE status NOT IN ('Done', 'Cancelled')`, func(rows *sql.Rows) error {
		var t check.Timer
		err := rows.Scan(&t.ID)
		f.Timers = append(f.Timers, t)
		return err
	})
}

// runs reads runs. A row about missed runs stands for several, at intervals.
func (s *Store) runs(ctx context.Context, f *Final, every time.Duration) error {
	const query = `SELECT CAST(id AS text), job_name, scheduled_time, missed FROM {s}job_runs WHERE CAST(triggered AS int) = 0 ORDER BY job_name, scheduled_time`
	return s.each(ctx, query, func(rows *sql.Rows) error {
		var r check.Run
		var nominal any
		var missed int64
		if err := rows.Scan(&r.Message, &r.Job, &nominal, &missed); err != nil {
			return err
		}
		at, err := asTime(nominal)
		if r.Nominal = at.UnixNano(); missed == 0 {
			f.Runs = append(f.Runs, r)
		}
		for r.Message, r.Missed = "", true; missed > 0; missed-- {
			f.Runs = append(f.Runs, r)
			r.Nominal += int64(every)
		}
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

// Left counts what a round still has to do, by kind.
func (s *Store) Left(ctx context.Context) (map[string]int, error) {
	left := map[string]int{}
	const query = `
SELECT 'messages ready', coalesce(sum(n), 0) FROM {s}outbox_ready
UNION ALL SELECT 'messages claimed', coalesce(sum(n), 0) FROM {s}{claimed}
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

// Ready counts the messages that workers have to handle.
func (s *Store) Ready(ctx context.Context) (n int, err error) {
	err = s.SQL.QueryRowContext(ctx, s.Text(`SELECT coalesce(sum(n), 0) FROM {s}outbox_ready`)).Scan(&n)
	return n, err
}
