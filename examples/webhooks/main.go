// Command webhooks sends webhooks to the customers who asked for them, and receives them: two programs
// in one file, to be seen side by side.
//
//	go run ./examples/webhooks -receive 127.0.0.1:9000         a customer's service
//	go run ./examples/webhooks -send 127.0.0.1:8080            ours
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/sqlite"
)

func main() {
	sending := flag.String("send", "", "serve our API at this `address`, and send webhooks")
	receiving := flag.String("receive", "", "receive webhooks at this `address`")
	path := flag.String("db", "", "the SQLite `file`, default sender.db or receiver.db")
	private := flag.Bool("allow-private", false, "send to addresses that are not public, such as this machine's")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *sending != "" && *receiving == "":
		err = run(ctx, *sending, or(*path, "sender.db"), func(ctx context.Context, p *pawl.Pawl) (http.Handler, error) { return newSender(ctx, p, *private) })
	case *receiving != "" && *sending == "":
		err = run(ctx, *receiving, or(*path, "receiver.db"), newReceiver)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// run opens a database, and serves and works until ctx ends.
func run(ctx context.Context, listen, path string, prepare func(context.Context, *pawl.Pawl) (http.Handler, error)) error {
	db, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	p, err := pawl.New(db, pawl.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	if err := p.Migrate(ctx); err != nil {
		return err
	}
	handler, err := prepare(ctx, p)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: listen, Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	served, worked := make(chan error, 1), make(chan error, 1)
	working, stop := context.WithCancel(ctx)
	defer stop()
	go func() { served <- server.ListenAndServe() }()
	go func() { worked <- p.Run(working) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = server.Shutdown(ending)
	}
	stop()
	return errors.Join(err, <-worked)
}
