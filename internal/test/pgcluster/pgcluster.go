//go:build linux || darwin

// Package pgcluster starts a private, throw-away PostgreSQL server out of the
// binaries that are installed, or of a version of our choice, for tests and
// benchmarks that must not depend on a server somebody set up before.
//
// The server never outlives the process that started it, whatever ends that
// process: a panic, a time-out of go test, SIGKILL. See guard.
package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// VersionVariable is the environment variable that names the major version of all
// servers whose Options name none. The command withpostgres sets it, so that the
// private servers of tests are of the version under test.
const VersionVariable = "PAWL_TEST_POSTGRES_VERSION"

// Options say how the server differs from a plain one. The zero value is fine.
type Options struct {
	// Version is PostgreSQL's major version, "18" for instance. Empty: the one that
	// the environment variable VersionVariable names, else the one that is installed.
	// Where a version is named no other is taken in its place.
	Version string

	// Settings are server settings beyond the defaults of this package, for
	// instance fsync=off. They go into postgresql.conf, so ALTER SYSTEM can
	// still override them.
	Settings map[string]string

	// Parent is the directory that the server's own is made in. Empty: that of temporary
	// files. Where its account cannot get there, /tmp.
	Parent string

	// Env are environment variables of the server, NAME=VALUE, beyond those of this process.
	Env []string

	// Log receives what the package manager prints when PostgreSQL has to be
	// installed first. Nil discards it.
	Log io.Writer
}

// A Cluster is a running server with a data directory of its own. Keep it
// reachable: when the garbage collector takes it, the server stops, just as if
// the process had ended.
type Cluster struct {
	port int

	mu      sync.Mutex
	bin     string   // where initdb and postgres are
	account account  // the user they run as
	dir     string   // holds data/ and server.log, removed at the end
	spaces  []string // of tablespaces, removed at the end
	guard   *guard
	server  *process // nil while the server is down
	stopped bool
}

// ErrStopped is returned by operations on a cluster after [Cluster.Stop].
var ErrStopped = errors.New("pgcluster: the cluster was stopped and its data removed")

// How long a server may take to end, first when it was asked, then when it was
// told. Generous, because machines that run tests are busy.
const (
	haltPatience = 20 * time.Second
	killPatience = 10 * time.Second
)

// Start makes a new cluster and returns when it accepts connections. PostgreSQL
// is installed first if it is missing and may be installed; if not, the error
// says what to do. The context bounds the start only.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	user, err := serverAccount(ctx, opts.Log)
	if err != nil {
		return nil, err
	}
	if opts.Version == "" {
		opts.Version = os.Getenv(VersionVariable)
	}
	bin, err := binaries(ctx, opts.Log, opts.Version, user)
	if err != nil {
		return nil, err
	}
	user.env = opts.Env
	c := &Cluster{bin: bin, account: user}
	if err := c.create(ctx, opts); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// create does what Start promises. It leaves whatever it made in c, so that
// Stop can clear up after a failure in the middle.
func (c *Cluster) create(ctx context.Context, opts Options) error {
	var err error
	if c.dir, err = c.account.makeDir(opts.Parent); err != nil {
		return err
	}
	// The guard comes before everything that it guards.
	if c.guard, err = startGuard(c.dir); err != nil {
		return err
	}
	if err := c.initdb(ctx); err != nil {
		return err
	}
	if err := c.configure(opts.Settings); err != nil {
		return err
	}
	return c.startOnFreePort(ctx)
}

// startOnFreePort tries a few ports, because one that was free when we asked
// can be taken by the time the server binds it.
func (c *Cluster) startOnFreePort(ctx context.Context) error {
	const attempts = 10
	var err error
	for range attempts {
		if c.port, err = freePort(); err != nil {
			return err
		}
		if err = c.launch(ctx); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

// URL is the connection string of the database postgres, for its superuser.
func (c *Cluster) URL() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", c.port)
}

// PID is the process id of the postmaster, 0 while the server is down.
func (c *Cluster) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil || c.server.exited() {
		return 0
	}
	return c.server.pid
}

// Stop shuts the server down and removes its data. Stopping twice is fine.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil
	}
	c.stopped = true
	if c.guard != nil {
		c.release()
	}
	var err error
	for _, dir := range c.spaces {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if c.dir == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(c.dir))
}

// release lets the guard do what it would do if this process died, so that the
// clearing-up that matters in a crash is the one that every run exercises.
func (c *Cluster) release() {
	c.guard.release()
	if c.server != nil {
		c.server.end(haltPatience)
		c.server = nil
	}
	c.guard.process.end(haltPatience)
}

// Kill ends the server as a power failure would, for tests of what survives
// one: an immediate shutdown writes no checkpoint and flushes nothing, so the
// next start recovers from the log. Unlike SIGKILL to the postmaster alone it
// leaves no backend behind that could still finish a commit after Kill has
// returned. The data stays, for [Cluster.Restart].
func (c *Cluster) Kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	return c.halt(syscall.SIGQUIT)
}

// Restart starts the same data directory on the same port, so that the URL
// stays true. A server that still runs is shut down in good order first.
func (c *Cluster) Restart(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrStopped
	}
	if err := c.halt(syscall.SIGINT); err != nil {
		return err
	}
	return c.relaunch(ctx)
}

// relaunch starts a server that is down on the port that it had.
func (c *Cluster) relaunch(ctx context.Context) error {
	err := c.launch(ctx)
	// Somebody's outgoing connection may have borrowed the port meanwhile, even
	// a client that looks for this very server and connected to itself.
	for errors.Is(err, errPortTaken) && pause(ctx) == nil {
		err = c.launch(ctx)
	}
	return err
}

// halt ends the server with a signal and waits for it. A server that is down
// already is fine.
func (c *Cluster) halt(sig syscall.Signal) error {
	if c.server == nil {
		return nil
	}
	if err := c.server.signal(sig); err != nil {
		return fmt.Errorf("stopping the server: %w", err)
	}
	c.server.end(haltPatience)
	c.server = nil
	return c.guard.forget()
}

// freePort asks the system for a port that nobody uses.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	defer l.Close()
	address, err := netip.ParseAddrPort(l.Addr().String())
	return int(address.Port()), err
}
