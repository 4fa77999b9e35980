package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/move"
)

// Move takes all that a store holds to another database, of whichever engine, which it
// migrates: messages with their payloads and attempts, those that are done as far as they are
// kept, timers, jobs and their runs, joins, the inbox, leases with their tokens, limits and
// pauses. Ids, the order of keys, unique keys and fencing tokens are those of before.
//
// The store is worked on while its messages are copied. Then its queues are paused until nothing
// is claimed, and nobody can write to it any more: every write, also one through SQL or of a
// program of an earlier version, fails with [pawl.ErrMoved], until its program asks for the store
// anew. What is left is copied, and the store goes on in the new database; every fleet that lists
// the old address finds it there. The old rows stay where they are, for nobody to use: delete
// them once no list has the old address.
//
// After an error, or after it was killed, call it again: it goes on where it was. GiveUpMove
// takes the store back. Errors: ErrUnknownStore, pawl.ErrInvalid, move.ErrNotEmpty, move.ErrOther.
//
// It is for the command line: a program that moves stores would have to be at hand for as long as
// the old address is listed.
func (f operator) Move(ctx context.Context, key string, to Database, opts move.Options) (move.Report, error) {
	old, new, release, err := f.sides(ctx, key, to)
	if err != nil {
		return move.Report{}, err
	}
	defer release()
	if err := new.DB.Migrate(ctx); err != nil {
		return move.Report{}, fmt.Errorf("the new database of store %q: %w", key, err)
	}
	opts.Logger = f.log.With("store", key)
	report, err := move.Run(ctx, old, new, opts)
	if err != nil {
		return report, fmt.Errorf("move store %q: %w", key, err)
	}
	if s := f.registry.get(key); s != nil {
		_, _ = s.moved(ctx) // otherwise it is noticed with the next poll
	}
	return report, nil
}

// GiveUpMove ends a move that is not over, as after an error: the store is worked on again where
// it is, and what was copied is deleted. to is the new database that Move was given. Errors:
// move.ErrOver, and those of Move.
func (f operator) GiveUpMove(ctx context.Context, key string, to Database) error {
	old, new, release, err := f.sides(ctx, key, to)
	if err != nil {
		return err
	}
	defer release()
	if err := move.GiveUp(ctx, old, new, move.Options{Logger: f.log.With("store", key)}); err != nil {
		return fmt.Errorf("give up the move of store %q: %w", key, err)
	}
	return nil
}

// sides opens both databases, apart from the store: that is closed meanwhile.
func (f *Fleet) sides(ctx context.Context, key string, to Database) (old, new move.Side, release func(), err error) {
	if err := checkKey(key); err != nil {
		return old, new, nil, err
	}
	to.Key = key
	if err := to.validate(f.opts.Engines); err != nil {
		return old, new, nil, err
	}
	if to, err = to.absolute(); err != nil {
		return old, new, nil, err
	}
	from, err := f.movedFrom(ctx, key, to)
	if err != nil {
		return old, new, nil, err
	}
	if old.DB, err = f.openAt(from, f.conns); err != nil {
		return old, new, nil, err
	}
	if new.DB, err = f.openAt(to, f.conns); err != nil {
		_ = old.DB.Close()
		return old, new, nil, err
	}
	old.Place, new.Place = placeOf(from), placeOf(to)
	return old, new, func() { _, _ = old.DB.Close(), new.DB.Close() }, nil
}

// movedFrom returns the address of the store, or of where it was before if it is where it is to
// be moved to.
func (f *Fleet) movedFrom(ctx context.Context, key string, to Database) (Database, error) {
	s, err := f.registry.find(ctx, key)
	if err != nil {
		return Database{}, err
	}
	if _, err := s.moved(ctx); err != nil && !errors.Is(err, engine.ErrMoved) {
		return Database{}, fmt.Errorf("store %q: %w", key, err)
	}
	if s, err = f.registry.find(ctx, key); err != nil {
		return Database{}, err
	}
	if placeOf(s.at) != placeOf(to) {
		return s.at.absolute()
	}
	if from, ok := f.registry.origin(s.at); ok {
		return from.absolute()
	}
	return Database{}, engine.Invalid("to", "it is the database that store %q is in", key)
}

// absolute is the address for other processes, which may run in other directories.
func (d *Database) absolute() (Database, error) {
	at := *d
	if path, file := strings.CutPrefix(d.URL, scheme); file && !strings.HasPrefix(path, "file:") {
		abs, err := filepath.Abs(path)
		if err != nil {
			return at, err
		}
		at.URL = scheme + abs
	}
	return at, nil
}

// openAt opens the database of a store.
func (f *Fleet) openAt(at Database, gate engine.Gate) (engine.DB, error) {
	db, err := f.opts.Engines[at.scheme()](engine.OpenOptions{
		URL: at.URL, Schema: at.Schema, Prefix: at.Prefix, Connections: f.opts.ConnectionsPerStore, Gate: gate,
		Library: &f.library, Logger: f.log.With("store", at.Key),
	})
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", at.Key, err)
	}
	return db, nil
}

func placeOf(at Database) move.Place {
	return move.Place{Where: at.Where(access.Key{}), Schema: at.Schema, Prefix: at.Prefix}
}
