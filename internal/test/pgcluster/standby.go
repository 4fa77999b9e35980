//go:build linux || darwin

package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Standby makes a second server that streams from this one, and returns when both
// accept connections, the new one for reading only. This one is shut down for as long
// as its files are copied, which needs no program that only some distributions of
// PostgreSQL have. name is the application_name of the connection between them, for
// synchronous_standby_names. SELECT pg_promote() makes the new one take writes. Like
// every cluster it is to be stopped.
func (c *Cluster) Standby(ctx context.Context, name string) (*Cluster, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil, ErrStopped
	}
	if err := c.halt(syscall.SIGINT); err != nil {
		return nil, err
	}
	s := &Cluster{bin: c.bin, account: c.account}
	err := s.copyOf(c, name)
	if launched := c.relaunch(ctx); err == nil {
		err = launched
	}
	if err == nil {
		err = s.startOnFreePort(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// copyOf copies the files of a server that is down and makes them a standby's.
func (c *Cluster) copyOf(primary *Cluster, name string) error {
	var err error
	if c.dir, err = c.account.makeDir(filepath.Dir(primary.dir)); err != nil {
		return err
	}
	if c.guard, err = startGuard(c.dir); err != nil {
		return err
	}
	if output, err := c.account.command(c.dir, "cp", "-R", "-p", primary.dataDir(), c.dataDir()).CombinedOutput(); err != nil {
		return fmt.Errorf("copying the data: %w\n%s", err, output)
	}
	if err := c.copyLinked(); err != nil {
		return err
	}
	return c.follow(primary.port, name)
}

// Location makes a directory in another one for a tablespace of this server. It is removed
// with the data by Stop, but not if this process just ends.
func (c *Cluster) Location(parent string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return "", ErrStopped
	}
	return c.location(parent)
}

func (c *Cluster) location(parent string) (string, error) {
	dir, err := c.account.makeDirIn(parent)
	if err == nil {
		c.spaces = append(c.spaces, dir)
	}
	return dir, err
}

// MoveWAL has the write-ahead log in a directory of its own in another one, which is removed as that
// of a tablespace is. The server is shut down for as long as that takes.
func (c *Cluster) MoveWAL(ctx context.Context, parent string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if err := c.halt(syscall.SIGINT); err != nil {
		return err
	}
	return errors.Join(c.relocate(c.walDir(), c.walDir(), parent), c.relaunch(ctx))
}

func (c *Cluster) walDir() string { return filepath.Join(c.dataDir(), "pg_wal") }

// copyLinked gives copied files tablespaces and a write-ahead log of their own, beside those that they
// were copied from: the links in the data still name these.
func (c *Cluster) copyLinked() error {
	links, err := filepath.Glob(filepath.Join(c.dataDir(), "pg_tblspc", "*"))
	if err != nil {
		return err
	}
	for _, link := range append(links, c.walDir()) {
		original, err := os.Readlink(link)
		if errors.Is(err, syscall.EINVAL) {
			continue // the log is a directory of the data, and copied
		}
		if err == nil {
			err = c.relocate(link, original, filepath.Dir(original))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// relocate replaces name in the data by a link to a copy of the directory original, which it makes in parent.
func (c *Cluster) relocate(name, original, parent string) error {
	dir, err := c.location(parent)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"cp", "-R", "-p", original + "/.", dir}, {"rm", "-R", name}, {"ln", "-s", dir, name}} {
		if output, err := c.account.command(c.dir, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("copying %s: %w\n%s", original, err, output)
		}
	}
	return nil
}

// Shutdown ends the server in good order: standbys get all that it wrote. The data stays,
// for Follow and Restart.
func (c *Cluster) Shutdown() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	return c.halt(syscall.SIGINT)
}

// Follow demotes a server: it starts again on its port as a standby of a server that was
// promoted after this one had been shut down. name is as for Standby.
func (c *Cluster) Follow(ctx context.Context, primary *Cluster, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if err := c.halt(syscall.SIGINT); err != nil {
		return err
	}
	if err := c.follow(primary.port, name); err != nil {
		return err
	}
	return c.relaunch(ctx)
}

// follow makes the files of a server that is down a standby's.
func (c *Cluster) follow(port int, name string) error {
	if output, err := c.account.command(c.dir, "touch", filepath.Join(c.dataDir(), "standby.signal")).CombinedOutput(); err != nil {
		return fmt.Errorf("making a standby: %w\n%s", err, output)
	}
	f, err := os.OpenFile(filepath.Join(c.dataDir(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, fmt.Sprintf("primary_conninfo = 'host=127.0.0.1 port=%d user=postgres application_name=%s'\n", port, name))
	return errors.Join(err, f.Close())
}
