package fleet

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/lease"
)

// membersOptions configure newMembers.
type membersOptions struct {
	Fleet    string        // default "default"
	Process  string        // names this process for people, default host:pid
	Duration time.Duration // how long a member that died stays in the list
	Poll     time.Duration // how often the list is read
}

const (
	maxFleetName    = 100
	defaultDuration = 8 * time.Second
	defaultPoll     = 2 * time.Second
	minDuration     = time.Second
)

// newMembers lists the processes that hold leases of a fleet.
func newMembers(leases *lease.Leases, opts membersOptions) members {
	set(&opts.Duration, defaultDuration)
	set(&opts.Poll, defaultPoll)
	opts.Fleet, opts.Process = cmp.Or(opts.Fleet, "default"), cmp.Or(opts.Process, engine.ProcessName())
	return &leaseMembers{leases: leases, opts: opts, prefix: "fleet/" + opts.Fleet + "/"}
}

// leaseMembers are members that hold leases. Its fields below prefix belong to keep.
type leaseMembers struct {
	leases *lease.Leases
	opts   membersOptions
	prefix string

	own   *lease.Lease        // nil: not in the list yet
	known []fleetstate.Member // last reported
	away  bool                // the last try failed
	grace time.Time           // until then known members stay
}

// keep implements members.
func (m *leaseMembers) keep(ctx context.Context, report func(membership)) {
	for ctx.Err() == nil {
		list, err := m.step(ctx)
		if ctx.Err() != nil {
			break
		}
		report(membership{Self: m.self(), Members: m.settle(time.Now(), list), Err: err})
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
func (m *leaseMembers) settle(now time.Time, list []fleetstate.Member) []fleetstate.Member {
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
func (m *leaseMembers) step(ctx context.Context) ([]fleetstate.Member, error) {
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
	return append(list, fleetstate.Member{ID: m.self(), Process: m.opts.Process}), err
}

// list reads the members, and the leases by ID.
func (m *leaseMembers) list(ctx context.Context) (list []fleetstate.Member, held map[string]lease.Info, err error) {
	list, held = []fleetstate.Member{}, map[string]lease.Info{}
	after := &lease.Info{Name: m.prefix} // names are in the order of their bytes
	for l, err := range m.leases.List(ctx, lease.ListOptions{Status: lease.Held, After: after}) {
		if err != nil {
			return nil, nil, err
		}
		id, ok := strings.CutPrefix(l.Name, m.prefix)
		if !ok {
			break
		}
		list = append(list, fleetstate.Member{ID: id, Process: l.Owner})
		held[id] = l
	}
	return list, held, nil
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
