// Command etl loads CSV files every night: an extract for each file side by side, a report when all of
// them are done, an alert when one fails. Killed at any point and started again it goes on where it was.
//
//	go run ./examples/etl -now            a run at once, then end
//	go run ./examples/etl                 every night at two, Berlin's time, until Ctrl-C
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/sqlite"
)

func main() {
	path := flag.String("db", "etl.db", "the SQLite `file`")
	dir := flag.String("data", "examples/etl/data", "the `directory` of the CSV files")
	now := flag.Bool("now", false, "run once, at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *path, *dir, *now); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path, dir string, now bool) error {
	db, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	p, err := pawl.New(db, pawl.Options{StopWhenEmpty: now})
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	if err := p.Migrate(ctx); err != nil {
		return err
	}
	e := &etl{p, sqlite.SQL(db), dir}
	if err := e.prepare(ctx); err != nil {
		return err
	}
	if now {
		if _, err := p.Jobs.Trigger(ctx, nightly); err != nil {
			return err
		}
	}
	return p.Run(ctx)
}
