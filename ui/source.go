package ui

import (
	"context"
	"slices"
	"strings"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
)

// Source is what a dashboard is about: Of one database, or OfFleet.
type Source struct {
	one    *pawl.Pawl
	fleet  *fleet.Fleet
	probes health.Source
}

// Of returns a database as the source of a dashboard. It need not run workers.
// Of(nil) panics.
func Of(p *pawl.Pawl) Source {
	if p == nil {
		panic("ui: Of(nil)")
	}
	return Source{one: p, probes: p}
}

// OfFleet returns the stores of a fleet as the source of a dashboard: those that it knows when a page
// is asked for.
// OfFleet(nil) panics.
func OfFleet(f *fleet.Fleet) Source {
	if f == nil {
		panic("ui: OfFleet(nil)")
	}
	return Source{fleet: f, probes: f}
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
