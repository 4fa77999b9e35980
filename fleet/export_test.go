package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/fleetstate"
)

// Membership is what a list of members reports.
type Membership = membership

// Members is a list of members.
type Members = members

// MembersFunc is a list of members that is a function.
type MembersFunc func(ctx context.Context, report func(Membership))

func (f MembersFunc) keep(ctx context.Context, report func(membership)) { f(ctx, report) }

// ShareOf is a share among members.
func ShareOf(m Members, copies int) *Share { return &Share{members: m, Copies: copies} }

// StaticMembers is a fixed list, of which self is this process.
func StaticMembers(self string, all ...string) Members {
	fixed := membership{Self: self}
	for _, id := range all {
		fixed.Members = append(fixed.Members, fleetstate.Member{ID: id, Process: id})
	}
	return MembersFunc(func(ctx context.Context, report func(membership)) {
		report(fixed)
		<-ctx.Done()
	})
}

// MembersOf lists the processes in a control database, with times of its own.
func MembersOf(p *pawl.Pawl, fleet, process string, duration, poll time.Duration) Members {
	return newMembers(p.Leases, membersOptions{Fleet: fleet, Process: process, Duration: duration, Poll: poll})
}

// Keep keeps a process in a list.
func Keep(ctx context.Context, m Members, report func(Membership)) { m.keep(ctx, report) }

// Migrations migrates all stores and returns what became of each, by key.
func (f *Fleet) Migrations(ctx context.Context, o fleetstate.Migrate) (all []fleetstate.Migration, err error) {
	each := o.Each
	o.Each = func(m fleetstate.Migration) {
		all = append(all, m)
		if each != nil {
			each(m)
		}
	}
	err = f.Operator(access.Key{}).MigrateEach(ctx, o)
	slices.SortFunc(all, func(a, b fleetstate.Migration) int { return strings.Compare(a.Key, b.Key) })
	return all, err
}
