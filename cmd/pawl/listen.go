package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/health/probe"
)

// The limits of a server for probes.
const (
	headerTimeout = 5 * time.Second
	answerTimeout = 30 * time.Second
)

// serve answers probes and Prometheus at --listen until stop is called: also while the
// worker stops, for that is one of the answers.
func (c *workCmd) serve(src health.Source, m prometheus.Collector, log *slog.Logger) (stop func(), err error) {
	if c.Listen == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", local(c.Listen))
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	server := &http.Server{
		Handler: c.routes(src, m), ReadHeaderTimeout: headerTimeout, WriteTimeout: answerTimeout, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("no more probes are answered", "error", err)
		}
	})
	log.Info("answering probes", "address", listener.Addr().String())
	return func() {
		_ = server.Close()
		serving.Wait()
	}, nil
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
