package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/ui"
)

// uiCmd is "pawl ui".
type uiCmd struct {
	Listen    string   `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where to serve the dashboard, as HOST:PORT; without a host only this machine reaches it. Default: ${default}."`
	ReadOnly  bool     `help:"Show everything and change nothing."`
	Origin    []string `placeholder:"URL" help:"An address by which browsers reach the dashboard through a proxy that does not keep the header Host, such as https://ops.example.com. May be repeated."`
	BasicAuth string   `placeholder:"FILE" type:"path" help:"Ask for names and passwords that a file has: lines NAME:HASH, as \"htpasswd -B -C 12\" writes them. With :viewer behind it somebody only looks, and sees no payloads, headers and errors; with :reader no payloads."`
}

// Help is printed by --help.
func (*uiCmd) Help() string {
	return `The dashboard shows messages, joins, the inbox, timers, jobs, leases, workers and
what is wrong, and does what an operator does. Without --basic-auth it serves this
machine alone. It ends with Ctrl-C.

Examples:

    pawl ui
    pawl ui --db postgres://localhost/shop --read-only
    htpasswd -B -C 12 -c people ann && pawl ui --listen 0.0.0.0:8080 --basic-auth people`
}

// refreshStores is how often the list of a fleet's stores is read.
const refreshStores = 30 * time.Second

// Run serves the dashboard until it is interrupted.
func (c *uiCmd) Run(ctx context.Context, a *app, g *options) error {
	if !addressable(c.Listen) {
		return usage("--listen: want HOST:PORT")
	}
	logger := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	opts := ui.Options{ReadOnly: c.ReadOnly, TrustedOrigins: c.Origin, Logger: logger}
	for _, origin := range c.Origin {
		if err := http.NewCrossOriginProtection().AddTrustedOrigin(origin); err != nil {
			return usage("--origin: %w", err)
		}
	}
	if c.BasicAuth != "" {
		list, err := ui.BasicAuth(c.BasicAuth)
		if err != nil {
			return usage("--basic-auth: %w", err)
		}
		opts.Authorize = list.Authorize
		if weak := list.Weak(); weak != nil {
			fmt.Fprintf(a.stderr, "Passwords with a cost below 10 are cheap to guess for who finds their hashes: set those of %s anew with htpasswd -B -C 12.\n", strings.Join(weak, ", "))
		}
	}
	source, done, err := c.source(ctx, g, logger)
	if err != nil {
		return err
	}
	s, err := serveDashboard(a, c.Listen, source, opts)
	if err != nil {
		return errors.Join(err, done())
	}
	return errors.Join(s.waitFor(ctx), done())
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
	f, err := fleet.New(where, fleet.Options{Engines: target.Openers(false), Pawl: pawl.Options{Logger: logger}})
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

// serveDashboard begins to serve a dashboard, and says where and to whom.
func serveDashboard(a *app, listen string, source ui.Source, opts ui.Options) (*server, error) {
	s, err := startServer(listen, ui.Handler(source, opts), opts.Logger)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.stderr, "The dashboard is at http://%s/\n", s.address)
	if s.exposed {
		fmt.Fprintln(a.stderr, exposure(opts.Authorize != nil))
	}
	return s, nil
}

// exposure says what it means that other machines reach the dashboard.
func exposure(signIn bool) string {
	if signIn {
		return "Every machine that reaches this one is asked for a name and a password, which travel as they are: put TLS before it."
	}
	return "Every machine that reaches this one can connect, and is refused: without --basic-auth the dashboard serves this machine alone."
}

// waitFor serves until ctx ends.
func (s *server) waitFor(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	return s.wait()
}
