package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/health/probe"
)

// The limits of every server of this program: how long the head of a request, all of it, its answer,
// and the time until the next may take, and how many bytes a head may have.
const (
	headTimeout    = 5 * time.Second
	requestTimeout = 30 * time.Second
	answerTimeout  = 30 * time.Second
	idleTimeout    = 30 * time.Second
	maxHead        = 64 << 10
)

// serve answers probes and Prometheus at --listen until stop is called: also while the
// worker stops, for that is one of the answers.
func (c *workCmd) serve(src health.Source, m prometheus.Collector, log *slog.Logger) (stop func(), err error) {
	if c.Listen == "" {
		return func() {}, nil
	}
	s, err := startServer(c.Listen, c.routes(src, m), log)
	if err != nil {
		return nil, err
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.wait(); err != nil {
			log.Error("no more probes are answered", "error", err)
		}
	})
	log.Info("answering probes", "address", s.address)
	if s.exposed {
		log.Warn("probes and metrics are answered to every machine that reaches this one", "address", s.address)
	}
	return func() {
		_ = s.Close()
		serving.Wait()
	}, nil
}

// server serves HTTP at an address until it is closed.
type server struct {
	*http.Server
	address string // for this machine
	exposed bool   // other machines reach it
	ended   chan error
}

// newServer returns a server with the limits of this program.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHead,
		ConnState: newConnections().changed, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// startServer begins to serve, for this machine alone unless the address names a host; wait returns when
// that ends.
func startServer(address string, handler http.Handler, log *slog.Logger) (*server, error) {
	listener, err := net.Listen("tcp", local(address))
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	s := &server{Server: newServer(handler, log), ended: make(chan error, 1)}
	s.address, s.exposed = reachable(listener.Addr())
	go func() { s.ended <- s.Serve(listener) }()
	return s, nil
}

// reachable returns how this machine reaches an address that is listened at, and whether others do.
func reachable(at net.Addr) (address string, others bool) {
	port, err := netip.ParseAddrPort(at.String())
	switch {
	case err != nil:
		return at.String(), true
	case port.Addr().IsUnspecified(): // all addresses
		return fmt.Sprintf("localhost:%d", port.Port()), true
	}
	return at.String(), !port.Addr().Unmap().IsLoopback()
}

// wait returns when nothing is served any more, with the reason unless the server was closed. It is
// called once.
func (s *server) wait() error {
	if err := <-s.ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// routes is what --listen serves.
func (c *workCmd) routes(src health.Source, m prometheus.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	probes := probe.Handler(src, probe.Options{})
	mux.Handle("/livez", probes)
	mux.Handle("/readyz", probes)
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return mux
}

// addressable reports whether an address can be listened at, as far as its form goes.
func addressable(address string) bool {
	_, port, err := net.SplitHostPort(address)
	return address == "" || err == nil && port != ""
}

// local is an address that only this machine reaches, unless it names a host: what is
// served is not meant for everybody.
func local(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
