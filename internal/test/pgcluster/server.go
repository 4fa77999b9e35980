//go:build linux || darwin

package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// errPortTaken says that another port, or another moment, would do.
var errPortTaken = errors.New("pgcluster: the port is taken")

func (c *Cluster) dataDir() string { return filepath.Join(c.dir, "data") }
func (c *Cluster) logFile() string { return filepath.Join(c.dir, "server.log") }

// initdb makes the data directory. Text sorts by code point, as fast as it
// gets and the same everywhere; but upper and lower case are Unicode's where
// the system has a locale for that.
func (c *Cluster) initdb(ctx context.Context) error {
	var output []byte
	var err error
	for _, ctype := range []string{"C.UTF-8", "C"} {
		output, err = c.guard.command(c.account, c.dir, filepath.Join(c.bin, "initdb"),
			"--pgdata="+c.dataDir(), "--username=postgres", "--auth=trust",
			"--encoding=UTF8", "--locale=C", "--lc-ctype="+ctype, "--no-sync").CombinedOutput()
		if forgetErr := c.guard.forget(); forgetErr != nil {
			return forgetErr
		}
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("initdb: %w\n%s", err, output)
}

// configure appends to postgresql.conf; of two lines the later one counts. The
// settings go there and not on the command line, which nothing could override
// in the running server.
func (c *Cluster) configure(extra map[string]string) error {
	settings := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": "", // its path could be too long for a socket
		"shared_buffers":          "128MB",
		"max_connections":         "200",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"cluster_name":            "pawl-test", // dbtest leaves schemas on it for the next test
	}
	maps.Copy(settings, extra)

	var conf strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&conf, "%s = '%s'\n", name, strings.ReplaceAll(settings[name], "'", "''"))
	}
	path := filepath.Join(c.dataDir(), "postgresql.conf")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(conf.String())
	return errors.Join(err, f.Close())
}

// launch starts the server on c.port and waits until it accepts connections.
// When it fails, nothing runs.
func (c *Cluster) launch(ctx context.Context) error {
	// A file of our own rather than a pipe: a pipe needs somebody who reads it,
	// and the server stands still when nobody does.
	log, err := os.Create(c.logFile())
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := c.guard.command(c.account, c.dir, filepath.Join(c.bin, "postgres"),
		"-D", c.dataDir(), "-p", strconv.Itoa(c.port))
	cmd.Stdout, cmd.Stderr = log, log
	if c.server, err = startProcess(cmd); err != nil {
		return err
	}
	if err := c.waitReady(ctx); err != nil {
		// Nobody has used it yet, so there is nothing to shut down gently.
		return errors.Join(err, c.halt(syscall.SIGQUIT))
	}
	return nil
}

// waitReady waits for the line "ready" in postmaster.pid, as pg_ctl does. A
// connection would prove less: on a port that was taken it reaches whoever
// took it.
func (c *Cluster) waitReady(ctx context.Context) error {
	for !c.ready() {
		if c.server.exited() {
			return c.startFailure()
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("waiting for the server to accept connections: %w\n%s", err, c.logTail())
		}
	}
	return nil
}

// ready reads postmaster.pid: the pid in its first line, the state in its
// eighth. Before the server has written its own, the file can still be that of
// a predecessor that was killed.
func (c *Cluster) ready() bool {
	const stateLine = 7
	b, err := os.ReadFile(filepath.Join(c.dataDir(), "postmaster.pid"))
	if err != nil {
		return false
	}
	lines := strings.Split(string(b), "\n")
	return len(lines) > stateLine &&
		strings.TrimSpace(lines[0]) == strconv.Itoa(c.server.pid) &&
		strings.TrimSpace(lines[stateLine]) == "ready"
}

// startFailure says why a server that has ended did not start.
func (c *Cluster) startFailure() error {
	tail := c.logTail()
	if bytes.Contains(tail, []byte("could not bind")) {
		return fmt.Errorf("%w: %d", errPortTaken, c.port)
	}
	return fmt.Errorf("the server did not start:\n%s", tail)
}

// logTail is the end of the server's log. An unreadable one is an empty one:
// it only ever adorns another error.
func (c *Cluster) logTail() []byte {
	const enough = 4096
	b, _ := os.ReadFile(c.logFile())
	return b[max(0, len(b)-enough):]
}
