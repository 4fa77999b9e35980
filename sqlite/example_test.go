package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/sqlite"
)

// The program's tables are in the same file: its rows and messages are one transaction.
func Example() {
	dir, err := os.MkdirTemp("", "sqlite")
	must(err)
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"), sqlite.Options{StatementTimeout: time.Minute})
	must(err)
	p, err := pawl.New(db, pawl.Options{})
	must(err)
	defer func() { must(p.Close()) }()
	ctx := context.Background()
	must(p.Migrate(ctx))

	own := sqlite.SQL(db) // a *sql.DB, for the program's own statements
	_, err = own.ExecContext(ctx, "CREATE TABLE orders (number INTEGER PRIMARY KEY)")
	must(err)
	tx, err := own.BeginTx(ctx, nil)
	must(err)
	_, err = tx.ExecContext(ctx, "INSERT INTO orders VALUES (7)")
	must(err)
	_, err = p.Outbox.EnqueueTx(ctx, tx, outbox.Message{Topic: "order.placed"})
	must(err)
	must(tx.Rollback()) // neither the order nor its message exists

	c, err := p.Outbox.Count(ctx)
	must(err)
	fmt.Println(c.Ready, "messages")
	// Output: 0 messages
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
