// Command multitenant is a service whose tenants have a database each. An order and the message about
// it are written to the tenant's database in one transaction; one set of handlers in one process works
// on all of them.
//
//	go run ./examples/multitenant -listen 127.0.0.1:8080 -dir /tmp/tenants
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/health/probe"
	"github.com/bravellian/pawl/sqlite"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "the `address` to serve at")
	dir := flag.String("dir", "tenants", "the `directory` of the databases")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, *dir); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, listen, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer s.close()
	server := &http.Server{Addr: listen, Handler: s.routes(), ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	working, stop := context.WithCancel(ctx)
	defer stop()
	worked := make(chan error, 1)
	go func() { worked <- s.fleet.Run(working) }()

	select {
	case err = <-served: // the address is taken, say
	case <-ctx.Done():
		// Requests end first: what they enqueue is handled now or by the next process.
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = server.Shutdown(ending)
	}
	stop()
	return errors.Join(err, <-worked)
}

// open opens the table of tenants, and the fleet of their databases.
func open(ctx context.Context, dir string) (*service, error) {
	db, err := sqlite.Open(filepath.Join(dir, "control.db"))
	if err != nil {
		return nil, err
	}
	s := &service{dir: dir, control: sqlite.SQL(db), done: db.Close}
	if _, err := s.control.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS tenants (name text PRIMARY KEY, url text NOT NULL)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.fleet, err = fleet.New(fleet.Table(s.control, "SELECT name, url FROM tenants"), fleet.Options{
		Engines: map[string]fleet.Opener{"sqlite": sqlite.OpenURL}, // and "postgres": postgres.OpenURL
		Pawl:    pawl.Options{EnableSchemaDeployment: true},        // a new tenant's database is made ready before its first work
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	Placed.Handle(s.fleet, s.confirm)
	return s, nil
}

// close closes all databases.
func (s *service) close() { _, _ = s.fleet.Close(), s.done() }

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /tenants/{tenant}", s.addTenant)
	mux.HandleFunc("POST /tenants/{tenant}/orders", s.placeOrder)
	mux.HandleFunc("GET /tenants/{tenant}/orders", s.listOrders)
	probes := probe.Handler(s.fleet, probe.Options{})
	mux.Handle("GET /livez", probes)
	mux.Handle("GET /readyz", probes)
	return mux
}
