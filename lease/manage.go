package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Info is a lease as it is stored.
type Info struct {
	Name        string
	Held        bool      // by the database's clock
	Owner       string    // who holds it or, if it expired, held it last; "" if it was released
	Token       int64     // of the last acquisition, or higher after a release by force
	Until       time.Time // when it ends or expired; zero if it was released
	LastGranted time.Time // when it was last acquired
	Waiting     int       // how many wait for it
}

// info converts a stored lease.
func info(l *op.Lease) Info {
	i := Info{Name: l.Name, Held: l.Held, Token: l.Token, Waiting: l.Waiting}
	if l.Owner != nil {
		i.Owner = *l.Owner
	}
	if l.LeaseUntilUTC != nil {
		i.Until = *l.LeaseUntilUTC
	}
	if l.LastGrantedUTC != nil {
		i.LastGranted = *l.LastGrantedUTC
	}
	return i
}

// Get returns the lease of a name, or [ErrNotFound] if it was never acquired.
func (s *Leases) Get(ctx context.Context, name string) (*Info, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	l, found, err := engine.Get(ctx, s.db, op.LeaseGet{Name: name})
	if err == nil && !found {
		err = fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	if err != nil {
		return nil, err
	}
	known := info(&l)
	return &known, nil
}

// ListFilter selects leases.
type ListFilter struct {
	Held  bool   // only those that are held
	After string // only names after this one, for paging
	Limit int    // default 100, at most 10 000
}

const (
	defaultList = 100
	maxList     = 10_000
)

// List returns leases in order of their names.
func (s *Leases) List(ctx context.Context, f ListFilter) ([]Info, error) {
	if f.Limit <= 0 {
		f.Limit = defaultList
	}
	list, err := engine.Query(ctx, s.db, op.LeaseList{After: f.After, Held: f.Held, Most: min(f.Limit, maxList)})
	var all []Info
	for i := range list {
		all = append(all, info(&list[i]))
	}
	return all, err
}

// ForceRelease ends a lease, whoever holds it, and raises its token, so that nothing that the
// last holder guards can be committed any more. It waits for the end of a guarded transaction.
// The last holder notices at its next renewal. It reports whether the lease had a holder, even
// one whose lease had expired. It is recorded in the audit trail, see admin.WithActor.
func (s *Leases) ForceRelease(ctx context.Context, name string) (bool, error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	force := engine.Ask(op.LeaseForce{Name: name, Note: audit.New(ctx, "lease "+name).Op()})
	err := s.releaseAndWake(ctx, name, force)
	if err == nil && force.N > 0 {
		s.log.WarnContext(ctx, "lease released by force", "lease", name)
	}
	return err == nil && force.N > 0, err
}
