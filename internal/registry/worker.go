// Package registry keeps the list of processes that work on a database: their names, the topics
// they handle, their last heartbeats.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/topics"
	"github.com/bravellian/pawl/internal/worker"
)

const (
	// heartbeatEvery is how often a process sends a heartbeat.
	heartbeatEvery = 10 * time.Second
	// lifetime is how long it counts as alive without one.
	lifetime = 3 * heartbeatEvery
	// sharedLifetime is the same for a process that works on many databases: it works on this
	// one when there is something to do, which may be seldom.
	sharedLifetime = 24 * time.Hour
	// keepCrashed is how long a process that crashed is kept in the list.
	keepCrashed = 24 * time.Hour
	// leaveLimit bounds how long a stopping process tries to remove itself.
	leaveLimit = 5 * time.Second
)

// Info is a process that works on the database.
type Info struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"` // as in ProcessedBy of messages
	Host string    `json:"host"`
	PID  int64     `json:"pid"`
	// Version is the program's, or the commit that it was built from.
	Version string    `json:"version"`
	Started time.Time `json:"started,omitzero"`
	// Heartbeat is when the process last reported that it is alive, every 10 s.
	Heartbeat time.Time `json:"heartbeat,omitzero"`
	Queues    []string  `json:"queues"`
	Topics    []string  `json:"topics"` // that have handlers
	// Concurrency is how many handlers it runs at once.
	Concurrency int64 `json:"concurrency"`
	// InFlight is how many messages it held at its last heartbeat.
	InFlight int64 `json:"in_flight"`
	// Overdue are positions of messages, at most 100, whose handlers had not returned at the last
	// heartbeat long after their time-out: they ignore their context.
	Overdue []int64 `json:"overdue,omitempty"`
	// Progress is how far handlers said at the last heartbeat that they are; of 100 messages at most.
	Progress []worker.Progress `json:"progress,omitempty"`
	// ClockAhead is by how much its clock is ahead of the database's, negative if it is behind; 0: by
	// less than it can tell.
	ClockAhead time.Duration `json:"clock_ahead,omitempty"`
	// Waiting is how many callers waited for one of the Connections of its pool, on average between its
	// last two heartbeats.
	Waiting int64 `json:"waiting"`
	// Connections is how many connections its pool may have; 0: any number.
	Connections int64 `json:"connections"`
	// Shared is true for a process that works on many databases in turn. It may be
	// silent for a day and counts as alive.
	Shared bool `json:"shared"`
	// Alive is false for a process that stopped without leaving the list: it crashed or
	// lost the database. One that was killed counts as alive for up to 30 s.
	Alive bool `json:"alive"`
}

// Made reports whether the process's workers made an owner token.
func (i *Info) Made(token uuid.UUID) bool {
	tag := worker.TagIn(token)
	return tag != 0 && tag == worker.TagOf(i.ID)
}

// Handles reports whether the process has a handler for a topic.
func (i *Info) Handles(topic string) bool {
	_, ok := topics.Match(i.Topics, topic)
	return ok
}

// Self is what a process reports about itself.
type Self struct {
	Name        string
	Queues      []string
	Topics      []string
	Concurrency int
	// InFlight is called at every heartbeat; nil: none.
	InFlight func() int64
	// Overdue is called at every heartbeat; nil: none.
	Overdue func() []int64
	// Progress is called at every heartbeat; nil: none.
	Progress func() []worker.Progress
}

// Registry is the list of a database. It is safe for concurrent use.
type Registry struct {
	db      engine.DB
	log     *slog.Logger
	counts  *activity.Counters
	id      [16]byte
	host    string
	built   func() string // the program's version, which is expensive to read
	tracker worker.LoopTracker

	mu       sync.Mutex
	listedAt time.Time // when Show last wrote this process's entry
	listed   bool
	recorded time.Time // when what was counted was last written
	pool     poolLook
}

// New returns the list of a database. What counts has is written with the heartbeats.
func New(db engine.DB, log *slog.Logger, counts *activity.Counters) *Registry {
	host := engine.HostName()
	return &Registry{db: db, log: engine.Logger(log), counts: counts, id: uuid.Must(uuid.NewV7()), host: host, built: sync.OnceValue(version)}
}

// Run keeps this process in the list until ctx ends. It survives outages of the database.
func (r *Registry) Run(ctx context.Context, self Self) {
	worker.Every(ctx, &r.tracker, heartbeatEvery, r.counts.Trouble(), func(ctx context.Context) error {
		err := r.beat(ctx, &self, false)
		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "could not show that this worker is alive, will retry", "error", err)
		}
		return err
	})
	r.Leave(context.WithoutCancel(ctx))
}

// Show adds this process, which works on many databases, to the list, unless that was done
// recently. Errors do not affect the work and are logged.
func (r *Registry) Show(ctx context.Context, self Self) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed && time.Since(r.listedAt) < heartbeatEvery {
		return
	}
	r.listedAt = time.Now()
	if err := r.beat(ctx, &self, true); err != nil && ctx.Err() == nil {
		r.log.WarnContext(ctx, "could not show that this worker is alive, will retry", "error", err)
		return
	}
	r.listed = true
}

func (r *Registry) beat(ctx context.Context, self *Self, shared bool) error {
	life := lifetime
	if shared {
		life = sharedLifetime
	}
	inFlight := int64(0)
	if self.InFlight != nil {
		inFlight = self.InFlight()
	}
	pool := engine.PoolOf(r.db)
	waiting := r.pool.look(&pool, time.Now())
	if err := r.counts.Sync(ctx, r.db); err != nil {
		return err
	}
	err := r.write(ctx,
		engine.Ask(op.WorkerPrune{Age: keepCrashed}),
		engine.Ask(op.WorkerHeartbeat{
			ID: r.id, Name: self.Name, Host: r.host, PID: os.Getpid(), Version: r.built(), Queues: array(self.Queues), Topics: array(self.Topics),
			Concurrency: self.Concurrency, InFlight: inFlight, Overdue: report(self.Overdue), Progress: report(self.Progress), ClockAhead: r.counts.Ahead().Microseconds(), Waiting: waiting, Connections: int64(pool.Max), Shared: shared, Alive: life,
		}),
		engine.Ask(op.GenerationCheck{}))
	if err != nil {
		r.pool = poolLook{} // waits of an outage are no fault of the pool
	}
	return err
}

// poolLook is what the pool of connections had counted at a heartbeat.
type poolLook struct {
	at      time.Time
	waited  time.Duration
	waiting int64
}

// look returns how many callers waited for a connection, on average since the last look that was a second
// ago at least.
func (p *poolLook) look(stats *engine.PoolStats, now time.Time) int64 {
	if past := now.Sub(p.at); past >= time.Second { // before the first look: centuries
		if !p.at.IsZero() {
			p.waiting = int64((stats.Waited - p.waited) / past)
		}
		p.at, p.waited = now, stats.Waited
	}
	return p.waiting
}

// Record writes what this process, which works on many databases, counted, unless that was done
// recently. Errors do not affect the work; it is tried again.
func (r *Registry) Record(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.recorded) < heartbeatEvery {
		return
	}
	if err := r.write(ctx); err != nil && ctx.Err() == nil {
		r.log.DebugContext(ctx, "could not write what was counted, will retry", "error", err)
	}
}

// write makes the calls, and writes what was counted in the same transaction.
func (r *Registry) write(ctx context.Context, calls ...*engine.Call) error {
	if !r.counts.Empty() {
		if err := r.counts.Sync(ctx, r.db); err != nil {
			return err
		}
	}
	counts, written := r.counts.Pending()
	if calls = append(calls, counts...); len(calls) == 0 {
		return nil
	}
	err := r.db.Do(ctx, calls...)
	if err == nil && len(counts) > 0 {
		r.recorded = time.Now()
		written()
	}
	return err
}

// Leave removes this process from the list, or gives up after a few seconds: then the entry
// expires. Run does this by itself.
func (r *Registry) Leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed = false
	if err := r.write(ctx, engine.Ask(op.WorkerLeave{ID: r.id})); err != nil {
		r.log.DebugContext(ctx, "could not leave the list of workers, the entry will expire", "error", err)
	}
}

// Status returns the status of the loop that keeps this process in the list.
func (r *Registry) Status() []worker.LoopStatus {
	return []worker.LoopStatus{r.tracker.Status("heartbeat")}
}

// Tag marks this process's owner tokens.
func (r *Registry) Tag() worker.Tag { return worker.TagOf(r.id) }

// ID returns this process's id in the list.
func (r *Registry) ID() uuid.UUID { return r.id }

// maxReported is of how many messages a process reports that their handlers are overdue, or how far they are.
const maxReported = 100

// maxList is how many processes List returns at most.
const maxList = 10_000

// List returns the processes that work on a database, oldest first, and those that
// crashed within a day.
func List(ctx context.Context, db engine.DB) ([]Info, error) {
	call, list := Listing()
	err := db.Read(ctx, call)
	return list(), err
}

// Listing returns the call that reads what List returns, for callers that read more in the same round
// trip, and a function that returns it once the call was answered.
func Listing() (*engine.Call, func() []Info) {
	var all []Info
	return engine.ListAs(op.WorkerList{Most: maxList}, &all, info), func() []Info { return all }
}

// info converts a stored process.
func info(w *op.Worker, unread error) (Info, error) {
	if unread != nil {
		return Info{}, unread
	}
	i := Info{
		ID: w.ID, Name: w.Name, Host: w.Host, PID: w.PID, Version: w.Version, Started: w.StartedAt.UTC(), Heartbeat: w.HeartbeatAt.UTC(),
		Concurrency: w.Concurrency, InFlight: w.InFlight, ClockAhead: time.Duration(w.ClockAhead) * time.Microsecond, Waiting: w.Waiting, Connections: w.Connections, Shared: w.Shared, Alive: w.Alive,
	}
	return i, errors.Join(json.Unmarshal([]byte(w.Queues), &i.Queues), json.Unmarshal([]byte(w.Topics), &i.Topics), json.Unmarshal([]byte(w.Overdue), &i.Overdue), json.Unmarshal([]byte(w.Progress), &i.Progress))
}

// report is the array of what f returns, as much as a process reports.
func report[T any](f func() []T) string {
	if f == nil {
		return "[]"
	}
	all := f()
	return array(all[:min(len(all), maxReported)])
}

func array[T any](all []T) string {
	if all == nil {
		all = []T{}
	}
	text, _ := json.Marshal(all) // strings and numbers always can
	return string(text)
}

// version returns the main module's version, with the commit if it is known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (text == "" || text == "(devel)") {
			text = s.Value
		}
	}
	return text
}
