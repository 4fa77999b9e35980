package nemesis

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/torture/internal/load"
	"github.com/bravellian/pawl/torture/internal/store"
)

// rewindFaults take away what was committed in some time. Each has a round of its own.
func rewindFaults() []Fault {
	rewind := func(name string, engine Engines, do func(ctx context.Context, w *World, s Step) error) Fault {
		return Fault{Name: name, Engines: engine, Track: Servers, Rewinds: true, Harms: engine == Postgres, Owned: engine == Postgres, Do: do}
	}
	own := rewind("schema-made-again", Postgres, remakeSchema)
	own.Harms, own.Owned = false, false
	return []Fault{
		rewind("failover-asynchronous", Postgres, func(ctx context.Context, w *World, s Step) error {
			from := time.Now()
			if err := w.Server.Failover(context.WithoutCancel(ctx), false, s.Hold); err != nil {
				return err
			}
			defer func() { w.rewound(from, from) }()
			return w.moved(ctx)
		}),
		rewind("restore-base-backup", Postgres, func(ctx context.Context, w *World, s Step) error {
			return w.restore(ctx, s, w.Server.Backup)
		}),
		rewind("restore-dump", Postgres, func(ctx context.Context, w *World, s Step) error {
			return w.restore(ctx, s, func(ctx context.Context) (func(context.Context) error, error) {
				return w.Server.Dump(ctx, w.Place.Schema)
			})
		}),
		own,
		rewind("copy-back", SQLite, copyBack),
		rewind("replace-file", SQLite, replaceFile),
		rewind("remove-wal", SQLite, removeWAL),
	}
}

// never is when what is kept was committed, if all is lost.
func never() time.Time { return time.Unix(0, 0) }

// restore makes a backup, waits, and restores it.
func (w *World) restore(ctx context.Context, s Step, backup func(context.Context) (func(context.Context) error, error)) error {
	keeps := time.Now()
	restore, err := backup(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	wait(ctx, s.Hold)
	ctx = context.WithoutCancel(ctx)
	from := time.Now()
	defer func() { w.rewound(keeps, from) }()
	if err := restore(ctx); err != nil {
		return err
	}
	if err := w.moved(ctx); err != nil {
		return err
	}
	return w.afterRestore(ctx)
}

// afterRestore says to pawl that the database was restored.
func (w *World) afterRestore(ctx context.Context) error {
	return w.insist(ctx, func(ctx context.Context) error {
		p, err := pawl.New(w.Store.Pawl, load.Options(slog.New(slog.DiscardHandler), "nemesis"))
		if err != nil {
			return err
		}
		_, err = p.AfterRestore(ctx)
		return err
	})
}

// remakeSchema drops everything and makes it again, while programs run.
func remakeSchema(ctx context.Context, w *World, s Step) error {
	wait(ctx, s.Hold)
	ctx = context.WithoutCancel(ctx)
	from := time.Now()
	defer func() { w.rewound(never(), from) }()
	if err := w.insist(ctx, w.Store.Drop); err != nil {
		return err
	}
	// Blocks of ids that programs remember were given out by a sequence that is gone.
	return w.insist(ctx, func(ctx context.Context) error { return load.Setup(ctx, w.Store) })
}

// reopen opens the nemesis's own connections anew.
func (w *World) reopen(ctx context.Context) error {
	_ = w.Store.Close()
	w.Place.URL = w.Crew.Place.URL
	return w.insist(ctx, func(ctx context.Context) (err error) {
		if w.Store, err = store.Open(w.Place, slog.New(slog.DiscardHandler)); err != nil {
			return err
		}
		return w.Store.SQL.PingContext(ctx)
	})
}

// copyOf writes a copy of the SQLite database that is whole.
func (w *World) copyOf(ctx context.Context, name string) (string, error) {
	path := w.Place.URL + "." + name
	return path, w.insist(ctx, func(ctx context.Context) error {
		_ = os.Remove(path)
		_, err := w.Store.SQL.ExecContext(ctx, `VACUUM INTO ?`, path)
		return err
	})
}

// copyBack overwrites the file with an earlier copy while no process has it open, which pawl
// has to be informed of.
func copyBack(ctx context.Context, w *World, s Step) error {
	keeps := time.Now()
	path, err := w.copyOf(ctx, "copy")
	if err != nil {
		return err
	}
	wait(ctx, s.Hold)
	nothing := func() error { return nil }
	return w.offline(context.WithoutCancel(ctx), keeps, nothing, func() error {
		return errors.Join(os.RemoveAll(w.Place.URL+"-wal"), os.RemoveAll(w.Place.URL+"-shm"), overwrite(w.Place.URL, path))
	})
}

// errPartly is that the processes ended while one wrote the log back: without the log the file is none.
var errPartly = errors.New("the log was written back in part")

// removeWAL has the file as it is without its log: what was not written back from there is
// lost. The nemesis's own last connection would write it back, so the file is put aside.
func removeWAL(ctx context.Context, w *World, s Step) (err error) {
	aside := w.Place.URL + ".aside"
	for range 20 {
		wait(ctx, s.Hold)
		err = w.offline(context.WithoutCancel(ctx), never(), func() error {
			if err := overwrite(aside, w.Place.URL); err != nil {
				return err
			}
			return whole(ctx, aside)
		}, func() error {
			return errors.Join(os.RemoveAll(w.Place.URL+"-wal"), os.RemoveAll(w.Place.URL+"-shm"), overwrite(w.Place.URL, aside))
		})
		if !errors.Is(err, errPartly) {
			break
		}
	}
	return err
}

// whole returns errPartly if a file without its log is damaged.
func whole(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?immutable=1")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var found string
	if err := db.QueryRowContext(context.WithoutCancel(ctx), `PRAGMA integrity_check`).Scan(&found); err != nil || found != "ok" {
		return fmt.Errorf("%w: %s", errors.Join(errPartly, err), found)
	}
	return nil
}

// offline does something to the files while nobody has them open.
func (w *World) offline(ctx context.Context, keeps time.Time, prepare, do func() error) error {
	from, prepared := time.Now(), false
	defer func() {
		if prepared {
			w.rewound(keeps, from)
		}
	}()
	w.Crew.Suspend()
	defer w.Crew.Resume()
	if err := prepare(); err != nil {
		return err
	}
	prepared = true
	_ = w.Store.Close()
	if err := do(); err != nil {
		return err
	}
	if err := w.reopen(ctx); err != nil {
		return err
	}
	var found string
	if err := w.Store.SQL.QueryRowContext(ctx, `PRAGMA integrity_check`).Scan(&found); err != nil || found != "ok" {
		return fmt.Errorf("the file is damaged: %s: %w", found, err)
	}
	return w.afterRestore(ctx)
}

// replaceFile puts an earlier copy in the file's place while programs have it open.
func replaceFile(ctx context.Context, w *World, s Step) error {
	keeps := time.Now()
	path, err := w.copyOf(ctx, "copy")
	if err != nil {
		return err
	}
	wait(ctx, s.Hold)
	ctx = context.WithoutCancel(ctx)
	from := time.Now()
	if err := errors.Join(os.RemoveAll(w.Place.URL+"-wal"), os.RemoveAll(w.Place.URL+"-shm"), os.Rename(path, w.Place.URL)); err != nil {
		return err
	}
	// A program notices within a second of its next transaction, and commits into a file
	// that is gone until then.
	const noticed = 5 * time.Second
	defer func() { w.rewound(keeps, from) }()
	if err := w.reopen(ctx); err != nil {
		return err
	}
	wait(ctx, time.Until(from.Add(noticed)))
	return nil
}

// overwrite writes a file into another one, which stays the same file.
func overwrite(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
