package lease

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/bravellian/pawl/internal/audit"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/worker"
)

// Status is where a lease is in its life.
type Status string

// The states of a lease, by the database's clock.
const (
	Held    Status = "held"
	Expired Status = "expired" // it ran out, and was not given back
	Free    Status = "free"
)

// Info is a lease as it is stored.
type Info struct {
	Name        string    `json:"name"`
	Status      Status    `json:"state"`
	Owner       string    `json:"owner,omitempty"`       // who holds it or, if it ran out, held it last; "" if it was given back
	Until       time.Time `json:"until,omitzero"`        // when it ends or ran out; zero if it was given back
	Token       int64     `json:"token"`                 // of the last acquisition, or higher after a release by force
	Waiting     int       `json:"waiting"`               // how many stand in line for it
	LastGranted time.Time `json:"last_granted,omitzero"` // when it was last acquired
}

// info converts a stored lease.
func info(l *op.Lease) Info {
	i := Info{
		Name: l.Name, Status: Free, Owner: worker.Value(l.Owner), Until: worker.Value(l.LeaseUntilUTC).UTC(), Token: l.Token, Waiting: l.Waiting,
		LastGranted: worker.Value(l.LastGrantedUTC).UTC(),
	}
	switch {
	case l.Held:
		i.Status = Held
	case l.Owner != nil:
		i.Status = Expired
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

// ListOptions select leases. The zero value lists all.
type ListOptions struct {
	Status Status // "": any

	After *Info // only leases that follow this one: its Name counts; nil: from the beginning
}

// List returns leases in order of their names, which it reads while they are iterated over. An error
// is the last item.
func (s *Leases) List(ctx context.Context, opts ListOptions) iter.Seq2[Info, error] {
	return engine.Pages(opts.After, func(after *Info, most int) (all []Info, err error) {
		if st := opts.Status; st != "" && st != Held && st != Expired && st != Free {
			return nil, engine.Invalid("status", "not one of %q", []Status{Held, Expired, Free})
		}
		list := op.LeaseList{State: worker.Optional(string(opts.Status)), Most: most}
		if after != nil {
			list.After = after.Name
		}
		return engine.QueryAs(ctx, s.db, list, func(l *op.Lease, unread error) (Info, error) { return info(l), unread })
	})
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
