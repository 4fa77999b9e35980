//go:build linux || darwin

// Package server is a private PostgreSQL server that faults may harm.
package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/test/pgcluster"
)

// Server is a server, and the ones that took its place.
type Server struct {
	mu      sync.Mutex
	primary *pgcluster.Cluster
	dir     string
	clock   *clock // nil: the machine's
	walDisk string
}

// Start starts a server. dir is for dumps. Settings are the server's.
func Start(ctx context.Context, dir string, settings map[string]string) (*Server, error) {
	clock, err := newClock()
	if err != nil {
		return nil, err
	}
	c, err := pgcluster.Start(ctx, pgcluster.Options{Settings: settings, Env: clock.environ()})
	if err != nil {
		return nil, errors.Join(err, clock.remove())
	}
	return &Server{primary: c, dir: dir, clock: clock}, nil
}

// Stop ends all servers and removes their data.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.primary.Stop(), s.clock.remove())
}

// OnDisk lets tables and indexes that are made from now on be in a folder, the data of a small
// disk. Temporary files and the catalog stay where they are.
func (s *Server) OnDisk(ctx context.Context, folder string) error {
	location, err := s.current().Location(folder)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		`CREATE TABLESPACE small LOCATION '` + strings.ReplaceAll(location, "'", "''") + `'`,
		`ALTER DATABASE postgres SET default_tablespace = 'small'`,
	} {
		if err := run(ctx, s.URL(), statement); err != nil {
			return err
		}
	}
	return nil
}

// WALOnDisk moves the write-ahead log to a folder, the data of a small disk, and keeps it small: the
// disk has that of a standby, too.
func (s *Server) WALOnDisk(ctx context.Context, folder string) error {
	for _, setting := range []string{"max_wal_size = '96MB'", "min_wal_size = '32MB'", "wal_keep_size = '64MB'"} {
		if err := run(ctx, s.URL(), `ALTER SYSTEM SET `+setting); err != nil {
			return err
		}
	}
	s.walDisk = folder
	return s.current().MoveWAL(ctx, folder)
}

// WALDisk is the folder of WALOnDisk, or empty.
func (s *Server) WALDisk() string { return s.walDisk }

// Clock reports whether the server's clock can be stepped.
func (s *Server) Clock() bool { return s.clock != nil }

// SetClock puts the server's clock ahead of the machine's, or behind it.
func (s *Server) SetClock(ahead time.Duration) error {
	if s.clock == nil {
		return ErrNoClock
	}
	return s.clock.set(ahead)
}

// URL is where the server is.
func (s *Server) URL() string { return s.current().URL() }

// PID is the process id of the postmaster.
func (s *Server) PID() int { return s.current().PID() }

func (s *Server) current() *pgcluster.Cluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.primary
}

// replace puts another server in the place of one that has ended, whose data is removed: a
// small disk has no room for that of many.
func (s *Server) replace(c *pgcluster.Cluster) error {
	s.mu.Lock()
	old := s.primary
	s.primary = c
	s.mu.Unlock()
	return old.Stop()
}

// Restart stops the server in one of three ways and starts it.
func (s *Server) Restart(ctx context.Context, mode string) error {
	c := s.current()
	switch mode {
	case "immediate":
		if err := c.Kill(); err != nil {
			return err
		}
	case "kill":
		if pid := c.PID(); pid != 0 {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				return err
			}
		}
	}
	return s.insist(ctx, func() error { return c.Restart(ctx) })
}

// insist repeats what may fail while a server that was killed leaves processes behind.
func (s *Server) insist(ctx context.Context, do func() error) error {
	const patience, pause = time.Minute, 300 * time.Millisecond
	end := time.Now().Add(patience)
	for {
		err := do()
		if err == nil || time.Now().After(end) || ctx.Err() != nil {
			return err
		}
		time.Sleep(pause)
	}
}

// Backup copies the server: a standby that is shut down is a backup of all its files.
func (s *Server) Backup(ctx context.Context) (func(context.Context) error, error) {
	copied, err := s.current().Standby(ctx, "backup")
	if err != nil {
		return nil, err
	}
	if err := copied.Shutdown(); err != nil {
		return nil, errors.Join(err, copied.Stop())
	}
	return func(ctx context.Context) error {
		if err := s.current().Kill(); err != nil {
			return err
		}
		if err := copied.Restart(ctx); err != nil {
			return err
		}
		return s.promote(ctx, copied)
	}, nil
}

// Failover makes a standby, lets it follow for a while, ends the server as a power failure
// does, and promotes the standby. A synchronous one has then everything that was committed;
// an asynchronous one lags by the time.
func (s *Server) Failover(ctx context.Context, synchronous bool, follow time.Duration) error {
	primary := s.current()
	standby, err := primary.Standby(ctx, "torture")
	if err != nil {
		return err
	}
	if synchronous {
		err = synchronize(ctx, primary.URL())
	}
	var receiver int
	if err == nil && !synchronous {
		if receiver, err = receiverOf(ctx, standby); err == nil {
			err = syscall.Kill(receiver, syscall.SIGSTOP)
		}
	}
	if err != nil {
		return errors.Join(err, standby.Stop())
	}
	time.Sleep(follow)
	err = primary.Kill()
	if receiver != 0 {
		err = errors.Join(err, syscall.Kill(receiver, syscall.SIGKILL))
	}
	return errors.Join(err, s.promote(ctx, standby))
}

// receiverOf is the process of a standby that gets what the primary writes.
func receiverOf(ctx context.Context, standby *pgcluster.Cluster) (pid int, err error) {
	err = within(ctx, standby.URL(), `SELECT coalesce((SELECT pid FROM pg_stat_wal_receiver WHERE status = 'streaming'), 0)`, &pid, func() bool { return pid != 0 })
	return pid, err
}

// synchronize lets commits wait for the standby, and returns when it has everything that was
// committed before.
func synchronize(ctx context.Context, url string) error {
	var ready bool
	for _, statement := range []string{`ALTER SYSTEM SET synchronous_standby_names = 'torture'`, `SELECT pg_reload_conf()`} {
		if err := run(ctx, url, statement); err != nil {
			return err
		}
	}
	var position string
	if err := within(ctx, url, `SELECT pg_current_wal_insert_lsn()::text`, &position, func() bool { return true }); err != nil {
		return err
	}
	return within(ctx, url, `SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND flush_lsn >= '`+position+`')`, &ready, func() bool { return ready })
}

// promote makes a standby the server.
func (s *Server) promote(ctx context.Context, standby *pgcluster.Cluster) error {
	err := s.insist(ctx, func() error { return run(ctx, standby.URL(), `SELECT pg_promote()`) })
	if err != nil {
		return err
	}
	err = s.replace(standby)
	var recovering bool
	return errors.Join(err, within(ctx, standby.URL(), `SELECT pg_is_in_recovery()`, &recovering, func() bool { return !recovering }))
}

// run runs a statement.
func run(ctx context.Context, url, statement string) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}

// within asks until the answer is the one that is waited for.
func within(ctx context.Context, url, query string, answer any, good func() bool) error {
	const patience, pause = time.Minute, 50 * time.Millisecond
	end := time.Now().Add(patience)
	for {
		c, err := pgx.Connect(ctx, url)
		if err == nil {
			err = c.QueryRow(ctx, query).Scan(answer)
			_ = c.Close(ctx)
		}
		if err == nil && good() {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("%s: not within %v", query, patience), err)
		}
		time.Sleep(pause)
	}
}

// Dump writes a schema to a file.
func (s *Server) Dump(ctx context.Context, schema string) (func(context.Context) error, error) {
	file := filepath.Join(s.dir, schema+".dump")
	if err := tool(ctx, "pg_dump", "--dbname="+s.URL(), "--format=custom", "--schema="+schema, "--file="+file); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		defer os.Remove(file)
		drop := func() error { return run(ctx, s.URL(), `DROP SCHEMA `+pgx.Identifier{schema}.Sanitize()+` CASCADE`) }
		if err := s.insist(ctx, drop); err != nil {
			return err
		}
		return tool(ctx, "pg_restore", "--exit-on-error", "--single-transaction", "--dbname="+s.URL(), file)
	}, nil
}

// tool runs one of PostgreSQL's programs.
func tool(ctx context.Context, name string, args ...string) error {
	if output, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, output)
	}
	return nil
}
