package anydriver_test

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// counted counts statements by their texts.
type counted struct {
	mu    sync.Mutex
	texts map[string]int
}

func (c *counted) add(query string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts == nil {
		c.texts = map[string]int{}
	}
	c.texts[query]++
}

// count returns how many statements with a text in them were counted.
func (c *counted) count(text string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for query, times := range c.texts {
		if strings.Contains(query, text) {
			n += times
		}
	}
	return n
}

// counting counts the statements that the connections of a driver parse, and the queries that
// were prepared and run.
type counting struct{ parsed, queried counted }

func (p *counting) connect(dsn string) (driver.Connector, error) {
	c, err := sqlite.Modernc(dsn)
	return countingConnector{c, p}, err
}

type countingConnector struct {
	driver.Connector
	counts *counting
}

func (c countingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countingConn{conn.(fullConn), c.counts}, nil
}

type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type countingConn struct {
	fullConn
	counts *counting
}

func (c countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.counts.parsed.add(query)
	st, err := c.fullConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return countingStmt{st.(fullStmt), query, c.counts}, nil
}

type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type countingStmt struct {
	fullStmt
	text   string
	counts *counting
}

func (s countingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.counts.queried.add(s.text)
	return s.fullStmt.QueryContext(ctx, args)
}

func (c countingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.counts.parsed.add(query)
	return c.fullConn.ExecContext(ctx, query, args)
}

// OBX-100: what pawl runs in the program's transactions is parsed once a connection, and ids
// for them are reserved by a statement of their own only until there is a block of them.
func TestStatementsInCallersTransactionsAreParsedOnce(t *testing.T) {
	var counts counting
	db, err := sqlite.OpenWith(counts.connect, filepath.Join(t.TempDir(), "x.db"))
	enginetest.Must(t, err)
	defer func() { _ = db.Close() }()
	enginetest.Must(t, db.Migrate(t.Context()))
	o := parts.NewOutbox(db, worker.Options{})
	enqueue := func(n int) {
		for range n {
			tx, err := db.SQL().BeginTx(t.Context(), nil)
			enginetest.Must(t, err)
			_, err = o.EnqueueTx(t.Context(), tx, outbox.Message{Topic: "t"})
			enginetest.Must(t, err)
			enginetest.Must(t, tx.Commit())
		}
	}
	enqueue(1)
	enginetest.Until(t, "a block of ids was fetched in the background", func() bool { return sqlite.HasIDs(db) })
	reserved := enginetest.Number(t, &enginetest.Place{SQL: db.SQL()}, "SELECT last FROM pawl.outbox_sequence")
	enqueue(20)
	if n := enginetest.Number(t, &enginetest.Place{SQL: db.SQL()}, "SELECT last FROM pawl.outbox_sequence"); n != reserved {
		t.Errorf("%d ids were reserved in the transactions", n-reserved)
	}
	connections := db.PoolStats().Open
	for _, text := range []string{"INSERT INTO \"outbox_message\"", "INSERT INTO \"outbox_ready\"", "BEGIN IMMEDIATE", "COMMIT"} {
		if n := counts.parsed.count(text); n == 0 || n > 2*connections {
			t.Errorf("%s: parsed %d times on %d connections", text, n, connections)
		}
	}
}
