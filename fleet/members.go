package fleet

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/lease"
)

// MembersOptions configure MembersOf. The zero value is right for most programs.
type MembersOptions struct {
	// Fleet distinguishes fleets that use the same control database, default "default". It has no
	// slash.
	Fleet string
	// Process names this process for people, default host:pid.
	Process string
	// Duration is how long a member that died stays in the list, default 8 s, at least a
	// second.
	Duration time.Duration
	// Poll is how often the list is read, default 2 s. A change is noticed within it.
	Poll time.Duration
}

const (
	maxFleetName    = 100
	defaultDuration = 8 * time.Second
	defaultPoll     = 2 * time.Second
	minDuration     = time.Second
	// membersPage is how many members a query reads.
	membersPage = 1000
)

// MembersOf lists the processes in a control database, which has to be migrated: p's. Each
// holds a lease there, "fleet/NAME/NUMBER", with the lowest number that is free, and its
// number is its ID: a process that takes the place of another has the same stores. If a
// process dies its lease expires after Duration.
//
// While the control database does not answer, all go on with the members last known, without
// limit. Once it answers again, those members stay in the list for Duration and Poll, so that
// all have the time to come back.
func MembersOf(p *pawl.Pawl, opts MembersOptions) (Members, error) {
	if p == nil {
		return nil, engine.Invalid("pawl", "nil")
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	set(&opts.Duration, defaultDuration)
	set(&opts.Poll, defaultPoll)
	if opts.Fleet == "" {
		opts.Fleet = "default"
	}
	if opts.Process == "" {
		opts.Process = engine.ProcessName()
	}
	return &leaseMembers{leases: p.Leases, opts: opts, prefix: "fleet/" + opts.Fleet + "/"}, nil
}

// Validate returns a pawl.InvalidError that names the first invalid field. MembersOf calls
// it.
func (o *MembersOptions) Validate() error {
	if strings.Contains(o.Fleet, "/") {
		return engine.Invalid("Fleet", "contains a slash")
	}
	return cmp.Or(
		engine.CheckText("Fleet", o.Fleet, maxFleetName, false), engine.CheckText("Process", o.Process, maxFleetName, false),
		engine.CheckOption("Duration", o.Duration, minDuration, 0), engine.CheckOption("Poll", o.Poll, 1, 0),
	)
}

// leaseMembers are members that hold leases. Its fields below prefix belong to Keep.
type leaseMembers struct {
	leases *lease.Leases
	opts   MembersOptions
	prefix string

	own   *lease.Lease // nil: not in the list yet
	known []Member     // last reported
	away  bool         // the last try failed
	grace time.Time    // until then known members stay
}

// Keep implements Members.
func (m *leaseMembers) Keep(ctx context.Context, report func(Membership)) {
	for ctx.Err() == nil {
		list, err := m.step(ctx)
		if ctx.Err() != nil {
			break
		}
		report(Membership{Self: m.self(), Members: m.settle(time.Now(), list), Err: err})
		_ = engine.Sleep(ctx, engine.Jitter(m.opts.Poll, 0.1))
	}
	if m.own != nil {
		_ = m.own.Close(ctx) // otherwise it expires
		m.own = nil
	}
}

// self is the ID of this process. One that has no number yet counts under its name.
func (m *leaseMembers) self() string {
	if m.own == nil {
		return m.opts.Process
	}
	return strings.TrimPrefix(m.own.Name(), m.prefix)
}

// settle returns the members to report; nil: the list could not be read. After a time in which the list could not be read, many
// leases have expired: those known stay for as long as it takes them to come back.
func (m *leaseMembers) settle(now time.Time, list []Member) []Member {
	if list == nil {
		m.away = true
		return nil
	}
	if m.away {
		m.away, m.grace = false, now.Add(m.opts.Duration+m.opts.Poll)
	}
	if now.Before(m.grace) {
		list = append(list, m.known...)
	}
	m.known = distinct(m.self(), list)
	return m.known
}

// step reads the list and makes sure that this process is in it. It returns the list, with this
// process, also if only the latter failed.
func (m *leaseMembers) step(ctx context.Context) ([]Member, error) {
	ctx, cancel := context.WithTimeout(ctx, max(m.opts.Duration/2, minDuration))
	defer cancel()
	list, held, err := m.list(ctx)
	if err != nil {
		return nil, err
	}
	if m.own != nil && m.own.Err() == nil {
		return list, nil
	}
	err = m.acquire(ctx, held)
	return append(list, Member{ID: m.self(), Process: m.opts.Process}), err
}

// list reads the members, and the leases by ID.
func (m *leaseMembers) list(ctx context.Context) (list []Member, held map[string]lease.Info, err error) {
	list, held = []Member{}, map[string]lease.Info{}
	after := &lease.Info{Name: m.prefix} // names are in the order of their bytes
	for {
		page, err := m.leases.List(ctx, lease.ListOptions{Status: lease.Held, After: after, Limit: membersPage})
		if err != nil {
			return nil, nil, err
		}
		for i := range page {
			id, ok := strings.CutPrefix(page[i].Name, m.prefix)
			if !ok {
				return list, held, nil
			}
			list = append(list, Member{ID: id, Process: page[i].Owner})
			held[id] = page[i]
		}
		if len(page) < membersPage {
			return list, held, nil
		}
		after = &page[len(page)-1]
	}
}

// acquire takes the number that this process had or, if another has it, the lowest free one.
func (m *leaseMembers) acquire(ctx context.Context, held map[string]lease.Info) error {
	if m.own != nil {
		had, taken := held[m.self()]
		if taken && had.Token == m.own.Token() {
			return nil // it expires by this process's clock first
		}
		if !taken {
			if err := m.take(ctx, m.self()); !errors.Is(err, lease.ErrHeld) {
				return err
			}
		}
	}
	for n := 1; ; n++ {
		id := strconv.Itoa(n)
		if _, taken := held[id]; taken {
			continue
		}
		if err := m.take(ctx, id); !errors.Is(err, lease.ErrHeld) {
			return err
		}
	}
}

func (m *leaseMembers) take(ctx context.Context, id string) error {
	own, err := m.leases.Acquire(ctx, m.prefix+id, lease.Options{Duration: m.opts.Duration, Owner: m.opts.Process})
	if err == nil {
		m.own = own
	}
	return err
}
