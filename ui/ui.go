// Package ui is a dashboard: pages about the messages, joins, timers, jobs, leases and workers of a database, or of a
// fleet, with what an operator does to them, and the same data as JSON. It is an http.Handler for a program's own
// server; "pawl ui" serves it alone. Everything that a browser loads is part of the program.
//
//	mux.Handle("/pawl/", http.StripPrefix("/pawl", ui.Handler(ui.Of(p), ui.Options{Authorize: who})))
package ui

import (
	"cmp"
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
)

// Options configure a Handler. The zero value is right on a developer's machine: it serves this machine alone.
type Options struct {
	// Authorize returns what the sender of a request may do, or an error, which is answered with
	// 403 (503 for context.DeadlineExceeded) and logged. It is called for every page, asset and change.
	// nil: whoever is on this machine may do everything, and nobody else anything. Requests with
	// headers that proxies add are refused then, but not every proxy adds one: behind a proxy, set it.
	Authorize func(*http.Request) (Access, error)
	// TrustedOrigins are addresses by which browsers reach the dashboard through a proxy that does not
	// keep the header Host, such as "https://ops.example.com": changes from pages of these are not refused
	// as those of others. Handler panics if one is no origin.
	TrustedOrigins []string
	// ReadOnly takes every change from everybody.
	ReadOnly bool
	// Redact returns what is shown of a text that a program wrote, to those who may read payloads: of a
	// payload, a header's value, a correlation id, an error, a join's metadata; nil: all of it. The
	// topic is empty where it is not known. Headers whose names are those of credentials (Authorization,
	// Cookie, X-Auth-Token …) are masked before.
	Redact func(topic string, payload []byte) []byte
	// TraceURL returns where a trace can be seen, by its id in hexadecimal; nil: nowhere.
	TraceURL func(traceID string) string
	// Refresh is how often open pages are brought up to date. Default 2 s, at least 200 ms.
	Refresh time.Duration
	// Timeout bounds what a page reads of one database. Default 5 s.
	Timeout time.Duration
	// Logger gets refused requests and changes. Default: slog.Default.
	Logger *slog.Logger
}

// server is a Handler.
type server struct {
	source Source
	opts   Options
	log    *slog.Logger
	cross  *http.CrossOriginProtection

	templates *template.Template
	notices   notices
	pictures  pictures
}

// Handler returns the dashboard of a source. It may be served below any path whose prefix is taken off
// (http.StripPrefix), and answers nothing but GET, HEAD and POST. It starts nothing that outlives its requests. Pages
// that are visible are kept up to date by asking for them again: none holds a connection.
//
// The limits of connections are those of the http.Server. The zero value of that has none: set ReadHeaderTimeout,
// ReadTimeout, WriteTimeout and IdleTimeout (5 s and three times 30 s for "pawl ui"), and bound how many connections
// there are, or whoever reaches the address takes every file descriptor that the process may have. WriteTimeout
// should be above Options.Timeout. Changes are not bound by ReadTimeout and WriteTimeout.
func Handler(source Source, opts Options) http.Handler {
	if opts.Authorize == nil {
		opts.Authorize = thisMachine
	}
	opts.Refresh = max(cmp.Or(opts.Refresh, 2*time.Second), 200*time.Millisecond)
	opts.Timeout = cmp.Or(opts.Timeout, 5*time.Second)
	s := &server{source: source, opts: opts, log: engine.Logger(opts.Logger), cross: http.NewCrossOriginProtection(), templates: templates(), pictures: pictures{keep: opts.Refresh / 2}}
	for _, origin := range opts.TrustedOrigins {
		if err := s.cross.AddTrustedOrigin(origin); err != nil {
			panic("ui: TrustedOrigins: " + err.Error())
		}
	}
	mux := http.NewServeMux()
	for _, p := range pages() {
		mux.HandleFunc("GET "+p.pattern, func(w http.ResponseWriter, r *http.Request) { s.page(w, r, p) })
	}
	s.routes(mux)
	mux.HandleFunc("POST /do/{action}", s.act)
	mux.Handle("GET /assets/", http.FileServerFS(files)) // whose folder of that name it is
	return s.guard(mux)
}

// Source is what a dashboard is about: Of one database, or OfFleet.
type Source struct {
	one   *pawl.Pawl
	fleet *fleet.Fleet
}

// Of returns a database as the source of a dashboard. It need not run workers. Of(nil) panics.
func Of(p *pawl.Pawl) Source {
	if p == nil {
		panic("ui: Of(nil)")
	}
	return Source{one: p}
}

// OfFleet returns the stores of a fleet as the source of a dashboard: those that it knows when a page is asked for.
// OfFleet(nil) panics.
func OfFleet(f *fleet.Fleet) Source {
	if f == nil {
		panic("ui: OfFleet(nil)")
	}
	return Source{fleet: f}
}

// store is one database of a source.
type store struct {
	key string // "" if there is only one
	*pawl.Pawl
}

// db returns what package inspect reads.
func (s *store) db() engine.DB { return s.Internal(access.Key{}).DB }

// keys returns the stores' keys in order, or nil if there is only one store.
func (s *Source) keys() []string {
	if s.fleet == nil {
		return nil
	}
	var keys []string
	for _, one := range s.fleet.Stores() {
		keys = append(keys, one.Key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}

// open returns a store by its key.
func (s *Source) open(ctx context.Context, key string) (*store, error) {
	if s.fleet == nil {
		return &store{"", s.one}, nil
	}
	p, err := s.fleet.Pawl(ctx, key)
	if err != nil {
		return nil, err
	}
	return &store{key, p}, nil
}
