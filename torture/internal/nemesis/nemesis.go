package nemesis

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/bravellian/pawl/torture/internal/check"
	"github.com/bravellian/pawl/torture/internal/crew"
	"github.com/bravellian/pawl/torture/internal/history"
	"github.com/bravellian/pawl/torture/internal/load"
	"github.com/bravellian/pawl/torture/internal/store"
)

// Track is what a fault harms. Faults of one track follow each other.
type Track int

// The tracks.
const (
	Processes   Track = iota
	Connections       // through the proxies
	Database          // by sessions of the nemesis's own
	Servers
)

// Engines says where a fault can be made: none is anywhere.
type Engines int

// The engines.
const (
	SQLite Engines = 1 << iota
	Postgres
	SQLServer
)

// OnServers are the engines that processes reach through proxies.
const OnServers = Postgres | SQLServer

// Fault is something that goes wrong.
type Fault struct {
	Name    string
	Engines Engines
	Track   Track
	// Harms reports that others who use the server notice.
	Harms bool
	// Owned reports that it takes more than a connection to the server: World.Server.
	Owned bool
	// Small reports that it takes a small disk: World.Disk.
	Small bool
	// WAL reports that it takes a small disk for the server's write-ahead log: Server.WALDisk.
	WAL bool
	// Pooled reports that it takes a pooler: World.Pooler.
	Pooled bool
	// Clock reports that it takes a clock that can be stepped.
	Clock bool
	// Rewinds reports that what was committed may be lost.
	Rewinds   bool
	Low, High time.Duration // how long it lasts
	Do        func(ctx context.Context, w *World, s Step) error
}

func (f Fault) hold(r *rand.Rand) time.Duration {
	if f.High == 0 {
		return 0
	}
	return f.Low + time.Duration(r.Int64N(int64(f.High-f.Low)+1))
}

// World is what there is to harm.
type World struct {
	Crew   *crew.Crew
	Store  *store.Store // without a proxy
	Place  store.Place
	Server Server  // nil: the server is not ours
	Disk   string  // a folder on a small disk that may be filled, with the SQLite file or the server's tables; or empty
	Pooler *Pooler // between the processes and the server, or nil
	Events *history.Writer
	Log    func(format string, args ...any)

	// servers is held by faults of servers, which may take longer than planned: one that fills the
	// disk while a standby is copied would leave no server.
	servers sync.Mutex

	mu      sync.Mutex
	made    map[string]int // faults by name, that were made and are over
	rewinds []check.Rewind
	steps   []check.Step
	ahead   time.Duration // of the server's clock
}

// Server is a PostgreSQL server that may be harmed.
type Server interface {
	// URL is where the server is now; it changes with a failover.
	URL() string
	// PID is the process id of the postmaster.
	PID() int
	// Restart stops the server, if it runs, with one of pg_ctl's modes, fast or immediate,
	// or with SIGKILL (kill), and starts it.
	Restart(ctx context.Context, mode string) error
	// Failover ends the server as a power failure would and promotes a standby: one that
	// has everything, or one that lags by some time.
	Failover(ctx context.Context, synchronous bool, lag time.Duration) error
	// Clock reports whether the server's clock can be stepped. SetClock puts it ahead of the
	// machine's.
	Clock() bool
	SetClock(ahead time.Duration) error
	// WALDisk is a folder on a small disk that may be filled, with the write-ahead log; or empty.
	WALDisk() string
	// Backup makes a copy of the whole server. restore puts it in the server's place.
	Backup(ctx context.Context) (restore func(context.Context) error, err error)
	// Dump writes a schema down. restore drops the schema and makes it from that.
	Dump(ctx context.Context, schema string) (restore func(context.Context) error, err error)
}

// Made is how often each fault was made. Those that could not be made do not count.
func (w *World) Made() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.made)
}

// count counts a fault that was made.
func (w *World) count(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.made == nil {
		w.made = map[string]int{}
	}
	w.made[name]++
}

// Rewinds are the times in which what was committed may be lost.
func (w *World) Rewinds() []check.Rewind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]check.Rewind(nil), w.rewinds...)
}

// rewound notes that what was committed since keeps is lost, by something that began at from.
// Processes know of nothing of the kind when now a lease is over.
func (w *World) rewound(keeps, from time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rewinds = append(w.rewinds, check.Rewind{Keeps: keeps.UnixNano(), From: from.UnixNano(), To: time.Now().Add(load.Lease).UnixNano()})
}

// Steps are the times in which leases may have ended early.
func (w *World) Steps() []check.Step {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]check.Step(nil), w.steps...)
}

// step steps the server's clock. After a step forward processes work for a lease at most with
// claims that the database takes for expired.
func (w *World) step(by time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	from := time.Now()
	if err := w.Server.SetClock(w.ahead + by); err != nil {
		return err
	}
	if w.ahead += by; by > 0 {
		w.steps = append(w.steps, check.Step{From: from.UnixNano(), To: time.Now().Add(load.Lease).UnixNano()})
	}
	return nil
}

// Run carries out a plan, and returns when all its faults are over or ctx ends. Faults that
// could not be made are logged: a server that is down cannot be asked for a lock.
func Run(ctx context.Context, w *World, plan Plan, faults []Fault) {
	byName := map[string]Fault{}
	for _, f := range faults {
		byName[f.Name] = f
	}
	began := time.Now()
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, s := range plan {
		f, ok := byName[s.Fault]
		if !ok {
			w.Log("no such fault: %s", s.Fault)
			continue
		}
		if !wait(ctx, time.Until(began.Add(s.At))) {
			return
		}
		wg.Go(func() { w.make(ctx, f, s) })
	}
}

// faultPatience is how long a fault may take beyond what it lasts: what waits for a lock that
// somebody never gives back is a fault that could not be made.
const faultPatience = 30 * time.Second

func (w *World) make(ctx context.Context, f Fault, s Step) {
	if f.Track == Servers {
		w.servers.Lock()
		defer w.servers.Unlock()
	}
	e := history.Event{Op: history.Fault, Outcome: history.Began, Detail: f.Name}
	if f.Track == Processes || f.Track == Connections {
		s.process = w.slot(s).Process()
		e.Name = s.process
	}
	_ = w.Events.Append(e)
	ctx, cancel := context.WithTimeout(ctx, s.Hold+faultPatience)
	defer cancel()
	err := f.Do(ctx, w, s)
	e.Outcome = history.OK
	if err != nil {
		e.Outcome, e.Detail = history.Failed, f.Name+": "+err.Error()
		w.Log("fault %s: %v", f.Name, err)
	} else {
		w.count(f.Name)
	}
	_ = w.Events.Append(e)
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// slot is the process that a step is about.
func (w *World) slot(s Step) *crew.Slot { return w.Crew.Slots[s.Pick%uint64(len(w.Crew.Slots))] }
