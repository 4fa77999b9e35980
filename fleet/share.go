package fleet

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/fleetstate"
	"github.com/bravellian/pawl/lease"
)

// Share divides the stores among several processes: each store is worked on by at most Copies
// of the members, chosen by rendezvous hashing, so that only the stores of a member that
// comes or goes move. All processes need the same list of stores, with the same keys, and the
// same Copies.
//
// It decides who works where, and is never needed for correctness: what two processes claim
// in a store is exclusive as always. The router and MigrateAll are for all stores in every
// process.
//
// The processes find each other in a control database. Each holds a lease there, "fleet/NAME/NUMBER",
// with the lowest number that is free, and its number is its ID: a process that takes the place of
// another has the same stores. If a process dies its lease expires after 8 s, and the others notice
// within 2 s more. While the control database does not answer, all go on with the members last known,
// without limit. Once it answers again, those members stay for 10 s, so that all have the time to come
// back.
type Share struct {
	// DB is the control database, any that pawl has, migrated. It is required.
	DB pawl.DB
	// Fleet distinguishes fleets that use the same control database, default "default". It has no
	// slash.
	Fleet string
	// Copies is how many processes work on a store, default 1.
	Copies int

	members members // in place of those in DB
}

// members is a list of processes that work on a fleet, to which this process belongs while
// keep runs.
type members interface {
	// keep keeps this process in the list until ctx ends, and then removes it. It calls
	// report within seconds, and again whenever the list may have changed or cannot be read,
	// one call at a time.
	keep(ctx context.Context, report func(membership))
}

// membership is the list of the processes as one of them reads it.
type membership struct {
	// Self is the ID of this process. It counts as a member, whether or not the list has it.
	Self string
	// Members are those that are alive. With nil and an Err the fleet goes on with those last
	// known.
	Members []fleetstate.Member
	// Err is why the list cannot be read, or why this process cannot be in it.
	Err error
}

// sharing knows which stores this process works on.
type sharing struct {
	f *Fleet

	mu    sync.Mutex // also while stores are gained and given up
	known bool       // the list was reported
	self  string
	list  []fleetstate.Member // by ID, with self
	read  time.Time
	err   error
	tasks sync.WaitGroup
}

func (o *Share) validate() error {
	if o == nil {
		return nil
	}
	_, ok := engine.As[engine.DB](o.DB)
	switch {
	case !ok && o.members == nil:
		return engine.Invalid("Share.DB", "not a database that sqlite.Open or postgres.Open returned")
	case strings.Contains(o.Fleet, "/"):
		return engine.Invalid("Share.Fleet", "contains a slash")
	}
	return cmp.Or(engine.CheckText("Share.Fleet", o.Fleet, maxFleetName, false), engine.CheckOption("Share.Copies", o.Copies, 1, 0))
}

// list returns the list of the processes.
func (o *Share) list(process string, log *slog.Logger) members {
	if o.members != nil {
		return o.members
	}
	db, _ := engine.As[engine.DB](o.DB)
	leases, _ := lease.New(access.Key{}, db, process, log)
	return newMembers(leases, membersOptions{Fleet: o.Fleet, Process: process})
}

// run keeps this process among the members until ctx ends. It begins when the list of stores
// was read: a member without the list would own stores that it does not work on.
func (sh *sharing) run(ctx context.Context) {
	if sh.f.opts.Share == nil {
		return
	}
	select {
	case <-sh.f.registry.read:
		sh.f.opts.Share.list(sh.f.opts.Pawl.Worker, sh.f.log).keep(ctx, func(m membership) {
			if ctx.Err() == nil {
				sh.report(m)
			}
		})
	case <-ctx.Done():
	}
	sh.tasks.Wait()
}

// report applies what the members are.
func (sh *sharing) report(m membership) {
	f := sh.f
	sh.mu.Lock()
	changed, failed, back := sh.updateLocked(m)
	var idle []*Store
	total, mine := 0, 0
	if changed {
		idle, total, mine = f.reshareLocked()
	}
	members := len(sh.list)
	sh.mu.Unlock()
	switch {
	case failed:
		f.log.Warn("could not keep the list of processes, going on with those known", "error", engine.Line(m.Err.Error()), "members", members)
	case back:
		f.log.Info("the list of processes is kept again", "members", members)
	}
	if changed {
		f.log.Info("the stores are shared", "members", members, "count", mine, "of", total)
	}
	if len(idle) > 0 {
		sh.tasks.Go(func() { f.handedOver(idle...) })
	}
}

// updateLocked takes over a report. It returns whether the members changed, and whether a
// failure begins or ends.
func (sh *sharing) updateLocked(m membership) (changed, failed, back bool) {
	failed, back = m.Err != nil && sh.err == nil, m.Err == nil && sh.err != nil
	list := m.Members
	if m.Err != nil && list == nil { // those last known, under whatever ID this process was
		list = slices.DeleteFunc(slices.Clone(sh.list), func(o fleetstate.Member) bool { return o.ID == sh.self })
	} else {
		sh.read = time.Now()
	}
	list = distinct(m.Self, list)
	changed = !sh.known || sh.self != m.Self || !slices.EqualFunc(list, sh.list, func(a, b fleetstate.Member) bool { return a.ID == b.ID })
	sh.known, sh.self, sh.list, sh.err = true, m.Self, list, m.Err
	return changed, failed, back
}

// distinct returns the members by ID, self included.
func distinct(self string, list []fleetstate.Member) []fleetstate.Member {
	list = slices.Clone(list)
	if !slices.ContainsFunc(list, func(m fleetstate.Member) bool { return m.ID == self }) {
		list = append(list, fleetstate.Member{ID: self, Process: engine.ProcessName()})
	}
	slices.SortStableFunc(list, func(a, b fleetstate.Member) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(list, func(a, b fleetstate.Member) bool { return a.ID == b.ID })
}

// ownsLocked reports whether this process works on the store of a key: it is one of the
// members with the highest weights. As long as no list was reported it works on none.
func (sh *sharing) ownsLocked(key string) bool {
	if sh.f.opts.Share == nil {
		return true
	}
	return sh.known && owns(sh.list, sh.self, key, max(1, sh.f.opts.Share.Copies))
}

// owns reports whether at most copies-1 of the others have a higher weight for a key.
func owns(all []fleetstate.Member, self, key string, copies int) bool {
	ours := weight(self, key)
	higher := 0
	for _, m := range all {
		if w := weight(m.ID, key); w > ours || w == ours && m.ID > self {
			higher++
		}
	}
	return higher < copies
}

// weight is the weight of a member for a store. It is the same in all processes and releases:
// with another, two of them would leave a store to each other.
func weight(member, key string) uint64 { return mix(mix(fnv1a(member)) ^ fnv1a(key)) }

// fnv1a is the FNV-1a hash of 64 bits.
func fnv1a(text string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001b3
	}
	return h
}

// mix makes each bit of the result depend on all of h: the last step of splitmix64.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// reshareLocked begins with the stores that this process works on now, and stops with those
// that it no longer does. It returns those of them that it had nothing to finish in.
func (f *Fleet) reshareLocked() (idle []*Store, total, mine int) {
	all := f.registry.all()
	var gained []*Store
	for _, s := range all {
		owned := f.share.ownsLocked(s.Key)
		switch {
		case owned && !s.mine.Load():
			gained = append(gained, s)
		case !owned && s.mine.Load():
			s.log.Debug("another process works on the store from now on")
			if f.stopWorkLocked(s) {
				idle = append(idle, s)
			}
		}
		if owned {
			mine++
		}
	}
	f.gainLocked(gained)
	return idle, len(all), mine
}

// gainLocked begins to work on stores, one after the other.
func (f *Fleet) gainLocked(stores []*Store) {
	for i, s := range stores {
		if f.opts.Share != nil && s.mine.CompareAndSwap(false, true) {
			s.reset()
			s.log.Debug("this process works on the store from now on")
		}
		f.timetable.add(s, time.Now().Add(time.Duration(i)*firstPollCost))
	}
}

// stopWorkLocked ends the polls and the turn of a store. What its handlers are at is finished
// first. It reports whether nothing of it is under way; otherwise giveBack finds that it
// left.
func (f *Fleet) stopWorkLocked(s *Store) (over bool) {
	if f.opts.Share != nil {
		s.mine.Store(false)
	}
	here := f.timetable.remove(s)
	if f.turns.withdraw(s) {
		return !f.timetable.putBack(s, time.Now())
	}
	return here
}

// handedOver is called when the work on stores ended that are another process's now. They stay
// open for the router.
func (f *Fleet) handedOver(stores ...*Store) {
	stores = slices.DeleteFunc(stores, func(s *Store) bool { return s.mine.Load() }) // it is ours again
	f.deregisterFrom(context.Background(), stores)
	for _, s := range stores {
		s.closeIdle()
	}
}

// health returns what is known about the members; nil: the stores are not shared.
func (sh *sharing) health() *fleetstate.Share {
	if sh.f.opts.Share == nil {
		return nil
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	h := &fleetstate.Share{Self: sh.self, Members: slices.Clone(sh.list), Read: sh.read}
	if sh.err != nil {
		h.Error = sh.err.Error()
	}
	return h
}

// shareSummary describes a share in half a sentence.
func shareSummary(h *fleetstate.Share, mine int) string {
	switch {
	case h == nil:
		return ""
	case len(h.Members) == 0:
		return "; the processes that share them are not known yet"
	}
	text := fmt.Sprintf("; this process works on %d, shared by %d processes", mine, len(h.Members))
	switch {
	case h.Error == "":
		return text
	case h.Read.IsZero():
		return text + fmt.Sprintf(" (their list was never read: %s)", h.Error)
	}
	return text + fmt.Sprintf(" (their list is %s old: %s)", engine.Exact(time.Since(h.Read).Round(time.Second)), h.Error)
}

// ready reports whether it is known which stores this process works on.
func (sh *sharing) ready() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.known || sh.f.opts.Share == nil
}

// workedOn is how many stores this process works on.
func (f *Fleet) workedOn() int {
	if f.opts.Share == nil {
		return f.registry.count()
	}
	return f.timetable.count()
}
