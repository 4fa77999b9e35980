package lease

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/audit"
	"github.com/bravellian/pawl/engine"
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

// scan fills in the columns of lease/get and lease/list.
func (i *Info) scan(r engine.Row) error {
	var owner *string
	var until, granted *time.Time
	*i = Info{}
	if err := r.Scan(&i.Name, &owner, &i.Token, &until, &granted, &i.Held, &i.Waiting); err != nil {
		return err
	}
	if owner != nil {
		i.Owner = *owner
	}
	if until != nil {
		i.Until = *until
	}
	if granted != nil {
		i.LastGranted = *granted
	}
	return nil
}

// Get returns the lease of a name, or [ErrNotFound] if nobody ever acquired it.
func (s *Leases) Get(ctx context.Context, name string) (*Info, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	var info Info
	err := s.db.Read(ctx, &engine.Call{Op: "lease/get", Args: []any{name}, Reset: func() { info = Info{} }, Each: info.scan})
	if err == nil && info.Token == 0 {
		err = fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	if err != nil {
		return nil, err
	}
	return &info, nil
}

// ListFilter chooses leases.
type ListFilter struct {
	Held  bool   // only those that are held
	After string // only names behind this one, to page on
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
	var all []Info
	err := s.db.Read(ctx, &engine.Call{
		Op: "lease/list", Args: []any{f.After, f.Held, min(f.Limit, maxList)}, Reset: func() { all = nil },
		Each: func(r engine.Row) error {
			var info Info
			err := info.scan(r)
			all = append(all, info)
			return err
		},
	})
	return all, err
}

// ForceRelease takes a lease from whoever has it and raises its token, so that
// nothing that the last holder guards is committed any more. It lets a guarded
// transaction that is under way end first. The last holder notices at its next
// renewal. It reports whether anyone had the lease, even one that had run out. It is
// noted in the audit trail, see audit.WithActor.
func (s *Leases) ForceRelease(ctx context.Context, name string) (bool, error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	force := &engine.Call{Op: "lease/force", Args: audit.Noted(ctx, "lease "+name, name)}
	err := s.give(ctx, name, force)
	if err == nil && force.N > 0 {
		s.log.WarnContext(ctx, "lease released by force", "lease", name)
	}
	return err == nil && force.N > 0, err
}
