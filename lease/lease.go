// Package lease lets one process at a time do something, and tells which process that is,
// through the database that a program has anyway.
//
//	l, err := p.Leases.Acquire(ctx, "close-books", lease.Options{Duration: 5 * time.Minute})
//	if errors.Is(err, lease.ErrHeld) {
//		return nil // another process does it
//	}
//	defer l.Close(ctx)
//	return closeBooks(l.Context())
//
// # What it promises
//
// As long as all clocks run at about the same speed, at most one [Lease] of a name is live at
// a time: its context ends no later than the moment from which the database would grant the
// lease to another owner. Only the database's clock decides who holds a lease; the clocks of
// the processes may be set to anything. A lease is renewed in the background, early enough to
// survive a few failures. When it is lost, the context ends with the cause [ErrLost], whether
// or not the database can be reached.
//
// Every acquisition of a name gets a [Lease.Token] that is greater than all before.
//
// # What it does not promise
//
// A context is not safety. A process can be stopped for minutes between reading its context
// and writing: by the garbage collector, by the hypervisor, by SIGSTOP. When it continues,
// another owner may have held the lease for long, and the write happens all the same.
//
// # How a guard closes the gap
//
// Writes to the same database belong into a transaction with [Lease.Guard]. The guard returns
// [ErrLost] unless the lease is still held, and no other owner can take it until that
// transaction has ended: so what a holder commits is committed while it is the holder, however
// long it was stopped.
//
//	tx, err := db.BeginTx(ctx, nil)
//	defer tx.Rollback()
//	if err := l.Guard(ctx, tx); err != nil {
//		return err
//	}
//	_, err = tx.ExecContext(ctx, "UPDATE books SET closed = true WHERE …")
//	return tx.Commit()
//
// Writes elsewhere (a file store, another service) are safe if that place refuses tokens lower
// than the highest that it has received; send it [Lease.Token] with every write.
package lease

import (
	"log/slog"
	"strings"
	"time"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/worker"
)

// Leases are the leases of one database, which must be migrated before use.
// It is safe for concurrent use.
type Leases struct {
	db        engine.DB
	owner     string
	log       *slog.Logger
	observers worker.Observers
}

// New returns the leases of a database, and what pawl.Pawl runs of them. owner names this process. It
// makes no connection and starts nothing. Programs cannot name the first parameter: pawl.New calls
// it.
func New(_ access.Key, db engine.DB, owner string, log *slog.Logger) (*Leases, *worker.Component) {
	s := &Leases{db: db, owner: owner, log: engine.Logger(log)}
	if strings.TrimSpace(owner) == "" {
		s.owner = engine.ProcessName()
	}
	return s, &worker.Component{Observe: func(o *worker.Observer) { s.observers = append(s.observers, o) }}
}

// Options configure one lease. The zero value is right for most programs.
type Options struct {
	// Duration is how long the lease lasts if its holder crashes, and how long the others wait
	// then. It is at least a second, default 30 s. It need not cover the work, because a lease
	// is renewed while it is held.
	Duration time.Duration
	// RenewAt is the part of Duration after which a renewal starts, from 0.1 to
	// 0.9, default 0.6. What remains is the time in which renewals may fail.
	RenewAt float64
	// Owner names the holder, for people; default pawl.Options.Worker.
	Owner string
}

// The limits (D-65) and defaults of Options.
const (
	maxName         = 255
	maxOwner        = 255
	minDuration     = time.Second
	defaultDuration = 30 * time.Second
	minRenewAt      = 0.1
	maxRenewAt      = 0.9
	defaultRenewAt  = 0.6
)

// complete sets defaults and returns an error for invalid options.
func (s *Leases) complete(name string, o Options) (Options, error) {
	if o.Duration == 0 {
		o.Duration = defaultDuration
	}
	if o.RenewAt == 0 {
		o.RenewAt = defaultRenewAt
	}
	if strings.TrimSpace(o.Owner) == "" {
		o.Owner = s.owner
	}
	if err := checkName(name); err != nil {
		return o, err
	}
	if err := engine.CheckText("owner", o.Owner, maxOwner, true); err != nil {
		return o, err
	}
	if o.Duration < minDuration {
		return o, engine.Invalid("duration", "shorter than %v", minDuration)
	}
	if !(o.RenewAt >= minRenewAt && o.RenewAt <= maxRenewAt) {
		return o, engine.Invalid("renew at", "not from %v to %v", minRenewAt, maxRenewAt)
	}
	return o, nil
}

func checkName(name string) error { return engine.CheckText("name", name, maxName, true) }
