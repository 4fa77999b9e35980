package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Info is a lease as the database knows it.
type Info struct {
	Name        string
	Held        bool      // by the database's clock
	Owner       string    // who holds it or, if it ran out, held it last; "" if it was given back
	Token       int64     // of the last acquisition, or higher after a release by force
	Until       time.Time // when it ends or ran out; zero if it was given back
	LastGranted time.Time // when it was last acquired
	Waiting     int       // how many stand in line for it
}

// info is what is known of a lease as it is stored.
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

// ListFilter chooses leases.
type ListOptions struct {
	Held  bool   // only those that are held
	After string // only names behind this one, to page on
	Limit int    // default 100, at most 10 000
}

const (
	defaultList = 100
	maxList     = 10_000
)

// List returns leases in order of their names.
func (s *Leases) List(ctx context.Context, f ListOptions) ([]Info, error) {
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

// ForceRelease takes a lease from whoever has it and raises its token, so that
// nothing that the last holder guards is committed any more. It lets a guarded
// transaction that is under way end first. The last holder notices at its next
// renewal. It reports whether anyone had the lease, even one that had run out. It is
// noted in the audit trail, see admin.WithActor.
func (s *Leases) ForceRelease(ctx context.Context, name string) (bool, error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	force := engine.Ask(op.LeaseForce{Name: name, Note: audit.New(ctx, "lease "+name).Op()})
	err := s.give(ctx, name, force)
	if err == nil && force.N > 0 {
		s.log.WarnContext(ctx, "lease released by force", "lease", name)
	}
	return err == nil && force.N > 0, err
}
