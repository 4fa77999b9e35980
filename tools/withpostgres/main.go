// Command withpostgres runs a command beside a private PostgreSQL server, so
// that many test binaries share one instead of starting one each:
//
//	go run ./tools/withpostgres [-version major] [-in directory] [-set name=value]... -- command [argument]...
//
// The command finds the server in the environment variable PAWL_TEST_POSTGRES.
// If that is set already, the command just runs, unless a version is asked for:
// then there is a server of that version, and PAWL_TEST_POSTGRES_VERSION makes the
// private servers of tests be of that version, too. Where -in names a directory the command's temporary
// files are in it as well: on a disk SQLite's tests take half again as much processor time. The exit
// code is the command's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bravellian/pawl/internal/test/pgcluster"
)

// The variable by which testpg finds a server. Not imported from there: that
// package links testing into the program, flags and all.
const variable = "PAWL_TEST_POSTGRES"

// startPatience includes the installation of PostgreSQL on a fresh machine.
const startPatience = 10 * time.Minute

// Exit codes as shells use them.
const (
	exitUsage     = 2
	exitFailed    = 125 // ours, not the command's
	exitNotFound  = 127
	exitSignalled = 128 // plus the number of the signal
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run is main with an exit code, so that deferred calls happen.
func run(args []string) int {
	opts := pgcluster.Options{Settings: make(map[string]string), Log: os.Stderr}
	flags := flag.NewFlagSet("withpostgres", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: withpostgres [-version major] [-in directory] [-set name=value]... -- command [argument]...")
		flags.PrintDefaults()
	}
	flags.StringVar(&opts.Version, "version", "", "PostgreSQL's `major` version; default: the one that is installed")
	flags.StringVar(&opts.Parent, "in", "", "the `directory` that the server's own and that of the command's temporary files are made in; default: that of temporary files")
	flags.Func("set", "a server setting, `name=value`; may be repeated", func(s string) error {
		return addSetting(opts.Settings, s)
	})
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return exitUsage
	}
	if os.Getenv(variable) != "" && opts.Version == "" {
		return runCommand(flags.Args(), os.Environ())
	}
	return runBesideServer(opts, flags.Args())
}

// addSetting reads the value of one -set.
func addSetting(settings map[string]string, s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want name=value")
	}
	settings[name] = value
	return nil
}

// runBesideServer starts the server, runs the command and stops the server.
// When this process is killed before that, the server stops by itself.
func runBesideServer(opts pgcluster.Options, command []string) int {
	interrupt, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(interrupt, startPatience)
	c, err := pgcluster.Start(ctx, opts)
	cancel()
	release()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		return exitFailed
	}
	env := append(os.Environ(), variable+"="+c.URL())
	if opts.Version != "" {
		env = append(env, pgcluster.VersionVariable+"="+opts.Version)
	}
	if opts.Parent != "" {
		dir, err := os.MkdirTemp(opts.Parent, "pawl-tmp-")
		if err != nil {
			fmt.Fprintln(os.Stderr, "withpostgres:", err)
			return exitFailed
		}
		defer os.RemoveAll(dir)
		_ = os.Chmod(dir, 0o755) // tests become other accounts
		env = append(env, "TMPDIR="+dir)
	}
	code := runCommand(command, env)
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres: stopping the server:", err)
		code = max(code, 1)
	}
	return code
}

// runCommand runs the command on our own terminal and returns its exit code.
// Signals are handed on rather than obeyed, because it is the command that has
// something to finish, and the server must stay until it has.
func runCommand(command, env []string) int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		return exitNotFound
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it may be over already
		case err := <-done:
			return exitCode(cmd.ProcessState, err)
		}
	}
}

// exitCode is what a shell would make of the end of a command.
func exitCode(state *os.ProcessState, err error) int {
	if state == nil || state.Exited() && state.ExitCode() == 0 && err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		return exitFailed
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignalled + int(status.Signal())
	}
	return state.ExitCode()
}
