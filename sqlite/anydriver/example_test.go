package anydriver_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // or mattn/go-sqlite3, ncruces/go-sqlite3 …

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/sqlite/anydriver"
)

// The program opens the file with its own driver. Transactions have to begin as immediate ones.
func Example() {
	dir, err := os.MkdirTemp("", "anydriver")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	pool, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "shop.db"))+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	db, err := anydriver.New(pool)
	if err != nil {
		log.Fatal(err)
	}
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready:", db.CheckSchema(context.Background()) == nil)
	// Output: ready: true
}
