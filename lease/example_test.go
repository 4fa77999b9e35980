package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/sqlite"
)

// Of several processes that start the same job, one does it.
func Example() {
	dir, err := os.MkdirTemp("", "lease")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}

	closeBooks := func(context.Context, *lease.Lease) error {
		fmt.Println("closing the books")
		// A second process, meanwhile:
		_, err := p.Leases.Acquire(ctx, "close-books", lease.Options{})
		fmt.Println("the second finds it held:", errors.Is(err, lease.ErrHeld))
		return nil
	}
	err = p.Leases.Run(ctx, "close-books", lease.Options{Duration: 5 * time.Minute}, closeBooks)
	fmt.Println("done, error:", err)
	// Output:
	// closing the books
	// the second finds it held: true
	// done, error: <nil>
}

// A guard keeps a holder that was paused for too long from writing.
func ExampleLease_Guard() {
	dir, err := os.MkdirTemp("", "lease")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := pawl.New(db, pawl.Options{Logger: quietly()})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := sqlite.SQL(db).ExecContext(ctx, "CREATE TABLE books (closed INTEGER)"); err != nil {
		log.Fatal(err)
	}

	write := func(l *lease.Lease) error {
		tx, err := sqlite.SQL(db).BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := l.Guard(ctx, tx); err != nil {
			return err // rolled back
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO books VALUES (1)"); err != nil {
			return err
		}
		return tx.Commit()
	}

	l, err := p.Leases.Acquire(ctx, "close-books", lease.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close(ctx)
	fmt.Println("the holder writes:", write(l))

	// Somebody decides that this process is dead. It is not, and does not know.
	if _, err := p.Leases.ForceRelease(ctx, "close-books"); err != nil {
		log.Fatal(err)
	}
	fmt.Println("its context lives:", l.Context().Err() == nil)
	fmt.Println("its write is refused:", errors.Is(write(l), lease.ErrLost))
	// Output:
	// the holder writes: <nil>
	// its context lives: true
	// its write is refused: true
}

// One of all processes leads until it stops, then the next in line.
func ExampleLeases_Elect() {
	dir, err := os.MkdirTemp("", "lease")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := p.Migrate(ctx); err != nil {
		log.Fatal(err)
	}

	lead := func(ctx context.Context, l *lease.Lease) error {
		fmt.Println("leading with a token:", l.Token() > 0)
		stop() // in a program this would be a signal to end
		<-ctx.Done()
		return nil
	}
	err = p.Leases.Elect(ctx, "scheduler", lease.Options{Duration: 10 * time.Second}, lead)
	fmt.Println("stopped, error:", err)
	// Output:
	// leading with a token: true
	// stopped, error: <nil>
}
