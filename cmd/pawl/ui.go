package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/people"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/ui"
)

// uiCmd is "pawl ui".
type uiCmd struct {
	Listen    string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to serve the dashboard. Default: ${default}."`
	ReadOnly  bool   `help:"Show everything and change nothing."`
	BasicAuth string `placeholder:"FILE" type:"path" help:"Ask for names and passwords that a file has: lines NAME:HASH, as \"htpasswd -B\" writes them. With :viewer behind it somebody only looks, and sees no payloads."`
}

// Help is printed by --help.
func (*uiCmd) Help() string {
	return `The dashboard shows messages, joins, the inbox, timers, jobs, leases, workers and
what is wrong, and does what an operator does. Without --basic-auth it serves this
machine alone. It ends with Ctrl-C.

Examples:

    pawl ui
    pawl ui --db postgres://localhost/shop --read-only
    htpasswd -Bc people ann && pawl ui --listen :8080 --basic-auth people`
}

// refreshStores is how often the list of a fleet's stores is read.
const refreshStores = 30 * time.Second

// Run serves the dashboard until it is interrupted.
func (c *uiCmd) Run(ctx context.Context, a *app, g *options) error {
	if !addressable(c.Listen) {
		return usage("--listen: want HOST:PORT")
	}
	logger := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	opts := ui.Options{ReadOnly: c.ReadOnly, Logger: logger}
	if c.BasicAuth != "" {
		list, err := people.Read(c.BasicAuth)
		if err != nil {
			return usage("--basic-auth: %w", err)
		}
		opts.Authorize = list.Authorize
	}
	source, done, err := c.source(ctx, g, logger)
	if err != nil {
		return err
	}
	handler := ui.Handler(source, opts)
	d, err := serveDashboard(a, c.Listen, handler)
	if err != nil {
		return errors.Join(err, done())
	}
	fmt.Fprintln(a.stderr, "The dashboard is at "+d.at)
	return errors.Join(d.wait(ctx), done())
}

// source opens the database or the fleet that was named; done closes it.
func (c *uiCmd) source(ctx context.Context, g *options, logger *slog.Logger) (ui.Source, func() error, error) {
	if !g.wholeFleet() {
		s, err := g.open(ctx, opening{})
		if err != nil {
			return ui.Source{}, nil, err
		}
		p, err := pawl.New(s, pawl.Options{Logger: logger})
		if err != nil {
			return ui.Source{}, nil, s.close(err)
		}
		return ui.Of(p), func() error { return s.close(nil) }, nil
	}
	where, err := g.openFleet()
	if err != nil {
		return ui.Source{}, nil, err
	}
	f, err := fleet.New(where, fleet.Options{Engines: target.Openers(false), Logger: logger})
	if err != nil {
		return ui.Source{}, nil, err
	}
	if err := f.Refresh(ctx); err != nil {
		return ui.Source{}, nil, errors.Join(&databaseError{where.String(), err}, f.Close())
	}
	reading, stop := context.WithCancel(ctx)
	var refreshing sync.WaitGroup
	refreshing.Go(func() {
		for tick := time.Tick(refreshStores); ; {
			select {
			case <-tick:
				if err := f.Refresh(reading); err != nil && reading.Err() == nil {
					logger.Warn("the list of stores could not be read", "error", err)
				}
			case <-reading.Done():
				return
			}
		}
	})
	return ui.OfFleet(f), func() error {
		stop()
		refreshing.Wait()
		return f.Close()
	}, nil
}

// dashboard is a server of the dashboard.
type dashboard struct {
	server *http.Server
	ended  chan error
	at     string
}

// serveDashboard begins to serve a dashboard.
func serveDashboard(a *app, listen string, handler http.Handler) (*dashboard, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	log := slog.NewLogLogger(slog.NewTextHandler(a.stderr, nil), slog.LevelWarn)
	d := &dashboard{
		server: &http.Server{Handler: handler, ReadHeaderTimeout: headerTimeout, WriteTimeout: answerTimeout, ErrorLog: log}, ended: make(chan error, 1),
		at: "http://" + listener.Addr().String() + "/",
	}
	go func() { d.ended <- d.server.Serve(listener) }()
	return d, nil
}

// wait serves until ctx ends.
func (d *dashboard) wait(ctx context.Context) error {
	select {
	case err := <-d.ended:
		return err
	case <-ctx.Done():
		return d.close()
	}
}

// close ends the dashboard, and pages that are open.
func (d *dashboard) close() error {
	_ = d.server.Close()
	if err := <-d.ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
