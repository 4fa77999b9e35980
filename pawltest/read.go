package pawltest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/outbox"
)

// item is a message or a timer as the assertions see it. A timer's message is the
// one that it becomes.
type item struct {
	msg   outbox.Message
	key   string // of a timer
	state string
}

// queries read all messages and all pending timers. They can run in a caller's
// transaction, which an operation that answers with rows cannot. Ids come as text
// and times as microseconds, the same from every engine and driver.
type queries struct{ messages, timers string }

const (
	// The first five columns are in each engine's SQL, and so is the hint. Pending timers have
	// timerStatus.
	messageColumns = `, topic, correlation_id, headers, queue, priority, NULL AS "key", retry_count, status FROM pawl.outbox_item`
	messageOrder   = ` ORDER BY id`
	timerColumns   = `, t.topic, t.correlation_id, t.headers, l.queue, l.priority, t."key", t.retry_count, 5 AS status FROM pawl.timer t`
	timerOrder     = ` JOIN pawl.outbox_lane l ON l.id = t.lane WHERE t.status = 0 ORDER BY t.due_time, t.id`
)

func sqliteQueries(names engine.Names) queries {
	return queries{
		messages: names.Render(`SELECT id, lower(hex(message_id)), CAST(payload AS BLOB), created_at, due_at` + messageColumns + messageOrder),
		timers:   names.Render(`SELECT t.id, lower(hex(t.timer_id)), CAST(t.payload AS BLOB), t.created_at, t.due_time` + timerColumns + timerOrder),
	}
}

func postgresQueries(names engine.Names) queries {
	return queries{
		messages: names.Render(`SELECT id, message_id::text, payload, (extract(epoch FROM created_at) * 1000000)::bigint, (extract(epoch FROM due_at) * 1000000)::bigint` + messageColumns + messageOrder),
		timers:   names.Render(`SELECT t.id, t.timer_id::text, t.payload, (extract(epoch FROM t.created_at) * 1000000)::bigint, (extract(epoch FROM t.due_time) * 1000000)::bigint` + timerColumns + timerOrder),
	}
}

func sqlserverQueries(names engine.Names) queries {
	// Without row versions a query from outside waits for rows of open transactions.
	const hint = ` WITH (READPAST, READCOMMITTEDLOCK)`
	return queries{
		messages: names.Render(`SELECT id, CAST(message_id AS char(36)), payload, DATEDIFF_BIG(microsecond, '1970-01-01', created_at), DATEDIFF_BIG(microsecond, '1970-01-01', due_at)` + messageColumns + hint + messageOrder),
		timers:   names.Render(`SELECT t.id, CAST(t.timer_id AS char(36)), t.payload, DATEDIFF_BIG(microsecond, '1970-01-01', t.created_at), DATEDIFF_BIG(microsecond, '1970-01-01', t.due_time)` + timerColumns + hint + timerOrder),
	}
}

// What a transaction has to be able to do: *sql.Tx, *sql.Conn and what embeds them,
// or pgx.Tx and *pgx.Conn.
type (
	sqlQueryer interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
	pgxQueryer interface {
		Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	}
)

// read runs one of the queries.
func read(ctx context.Context, in any, query string) ([]*item, error) {
	if tx, ok := in.(engine.Tx); ok { // as pawl hands it to handlers
		if own, ok := postgres.Pgx(tx); ok {
			in = own
		}
	}
	switch q := in.(type) {
	case sqlQueryer:
		rows, err := q.QueryContext(ctx, query)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		all, err := scanAll(rows)
		return all, errors.Join(err, rows.Err())
	case pgxQueryer:
		rows, err := q.Query(ctx, query)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		all, err := scanAll(rows)
		return all, errors.Join(err, rows.Err())
	}
	return nil, fmt.Errorf("a %T cannot query: give a *sql.Tx, a pgx.Tx, or what embeds one", in)
}

// rows is what the rows of database/sql and pgx have in common.
type rows interface {
	Next() bool
	Scan(dest ...any) error
}

// timerStatus is the status of timers in timerColumns: no message has it.
const timerStatus = 5

func scanAll(r rows) (all []*item, err error) {
	for r.Next() {
		i, err := scan(r)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

func scan(r rows) (*item, error) {
	i := &item{}
	var id string
	var correlation, headers, key *string
	var created int64
	var due *int64
	var status int64
	err := r.Scan((*int64)(&i.msg.Position), &id, &i.msg.Payload, &created, &due, &i.msg.Topic, &correlation, &headers, &i.msg.Queue, &i.msg.Priority,
		&key, &i.msg.RetryCount, &status)
	if err != nil {
		return nil, err
	}
	parsed, err := uuid.Parse(id)
	if err != nil {
		return nil, errors.New("an id that is none")
	}
	i.msg.ID, i.msg.CreatedAt, i.state = outbox.MessageID(parsed), time.UnixMicro(created).UTC(), string(outbox.Scheduled)
	if status != timerStatus {
		i.state = op.OutboxStatuses().Word(status)
	}
	if due != nil {
		i.msg.Due = time.UnixMicro(*due).UTC()
	}
	if correlation != nil {
		i.msg.CorrelationID = *correlation
	}
	if key != nil {
		i.key = *key
	}
	if headers != nil && json.Unmarshal([]byte(*headers), &i.msg.Headers) != nil {
		i.msg.Headers = map[string]string{"": *headers} // another program's
	}
	return i, nil
}
