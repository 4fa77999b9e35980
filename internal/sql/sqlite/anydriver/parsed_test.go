package anydriver_test

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/internal/enginetest"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/outbox"
)

// parsing counts the statements that the connections of a driver parse.
type parsing struct {
	mu    sync.Mutex
	texts map[string]int
}

func (p *parsing) add(query string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.texts == nil {
		p.texts = map[string]int{}
	}
	p.texts[query]++
}

// count returns how many statements with a text in them were parsed.
func (p *parsing) count(text string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for query, times := range p.texts {
		if strings.Contains(query, text) {
			n += times
		}
	}
	return n
}

func (p *parsing) connect(dsn string) (driver.Connector, error) {
	c, err := sqlite.Modernc(dsn)
	return parsingConnector{c, p}, err
}

type parsingConnector struct {
	driver.Connector
	parsed *parsing
}

func (c parsingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return parsingConn{conn.(fullConn), c.parsed}, nil
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

type parsingConn struct {
	fullConn
	parsed *parsing
}

func (c parsingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.parsed.add(query)
	return c.fullConn.PrepareContext(ctx, query)
}

func (c parsingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.parsed.add(query)
	return c.fullConn.ExecContext(ctx, query, args)
}

// OBX-100: what pawl runs in the program's transactions is parsed once a connection, and ids
// for them are reserved by a statement of their own only until there is a block of them.
func TestStatementsInCallersTransactionsAreParsedOnce(t *testing.T) {
	var parsed parsing
	db, err := sqlite.OpenWith(parsed.connect, filepath.Join(t.TempDir(), "x.db"))
	enginetest.Must(t, err)
	defer db.Close()
	enginetest.Must(t, db.Migrate(t.Context()))
	o := outbox.New(db, outbox.Options{})
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
		if n := parsed.count(text); n == 0 || n > 2*connections {
			t.Errorf("%s: parsed %d times on %d connections", text, n, connections)
		}
	}
}
