// Command shop is a whole service: orders over HTTP, the work that follows in the background, and both in one
// database, SQLite or PostgreSQL.
//
//	go run ./examples/shop
//	go run ./examples/shop -db postgres://localhost/shop -partner https://partner.example/hook
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/health/probe"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/metrics"
	"github.com/bravellian/pawl/postgres"
	"github.com/bravellian/pawl/sqlite"
	"github.com/bravellian/pawl/ui"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "the `address` to serve at")
	at := flag.String("db", "shop.db", "a SQLite `file`, or the URL of a PostgreSQL database")
	partner := flag.String("partner", "", "the `URL` that gets a webhook for each shipped order, signed with SHOP_SECRET")
	private := flag.Bool("allow-private", false, "the partner may be at an address that is not public")
	expire := flag.Duration("expire", 30*time.Minute, "how `long` an order may stay unpaid before it is cancelled")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := &shop{expire: *expire, partner: *partner, private: *private}
	if err := s.run(ctx, *at, *listen); err != nil {
		log.Fatal(err)
	}
}

// open opens the database, with one pool for the program and pawl.
func (s *shop) open(at string) (db pawl.DB, err error) {
	if strings.HasPrefix(at, "postgres://") {
		if db, err = postgres.Open(at); err == nil {
			s.db = stdlib.OpenDBFromPool(postgres.Pool(db))
		}
		return db, err
	}
	if db, err = sqlite.Open(at); err == nil {
		s.db = sqlite.SQL(db)
	}
	return db, err
}

// run serves, works and leads until ctx ends, or one of the three fails.
func (s *shop) run(ctx context.Context, at, listen string) error {
	db, err := s.open(at)
	if err != nil {
		return err
	}
	if s.pawl, err = pawl.New(db, pawl.Options{}); err != nil {
		return errors.Join(err, db.Close())
	}
	defer func() { _ = s.pawl.Close() }()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	routes, err := s.routes()
	if err != nil {
		return err
	}
	server := &http.Server{Addr: listen, Handler: routes, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return s.pawl.Run(ctx) }) // when ctx ends, it waits for running handlers
	all.Go(func() error { return s.pawl.Leases.Elect(ctx, "shop/stock", lease.Options{}, s.countStock) })
	all.Go(func() error {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return server.Shutdown(ending)
	})
	all.Go(func() error {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return all.Wait()
}

// routes are the shop's, the probes, the metrics, and the dashboard, for this machine alone.
func (s *shop) routes() (http.Handler, error) {
	m, err := metrics.New(s.pawl, metrics.Options{})
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(m); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", s.place)
	mux.HandleFunc("POST /orders/{number}/pay", s.pay)
	mux.HandleFunc("GET /orders/{number}", s.show)
	probes := probe.Handler(s.pawl, probe.Options{})
	mux.Handle("GET /livez", probes)
	mux.Handle("GET /readyz", probes)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.Handle("/pawl/", http.StripPrefix("/pawl", ui.Handler(ui.Of(s.pawl), ui.Options{})))
	return mux, nil
}
