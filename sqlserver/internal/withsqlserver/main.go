// Command withsqlserver runs a command on a SQL Server:
//
//	go run ./sqlserver/internal/withsqlserver [-version year] [-setting name] -- command [argument]...
//
// The server is the one that PAWL_TEST_SQLSERVER names. Where nothing does, it is a container of the maker's image,
// which PAWL_SQLSERVER_IMAGE names and which ends with the command; Docker or Podman has to be installed. -setting makes a database with that setting, and
// the command finds it in PAWL_TEST_SQLSERVER; without it the database is taken as it is.
// PAWL_TEST_SQLSERVER_IS describes version and setting as the server gives them: "2022 | READ_COMMITTED_SNAPSHOT on".
// The exit code is the command's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	variable = "PAWL_TEST_SQLSERVER"
	describe = "PAWL_TEST_SQLSERVER_IS"
)

// startPatience includes pulling the image.
const startPatience = 15 * time.Minute

// Exit codes as shells use them.
const (
	exitUsage  = 2
	exitFailed = 125 // ours, not the command's
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	os.Exit(run(ctx, os.Args[1:]))
}

// run is main with an exit code, so that deferred calls happen.
func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("withsqlserver", flag.ContinueOnError)
	version := flags.String("version", "2022", "the `year` of the container's version, where no server is named")
	name := flags.String("setting", "", "the database's `setting`: "+strings.Join(settingNames(), ", ")+"; default: the database as it is")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if flags.NArg() == 0 || *name != "" && !slices.Contains(settingNames(), *name) {
		fmt.Fprintln(flags.Output(), "usage: withsqlserver [-version year] [-setting name] -- command [argument]...")
		flags.PrintDefaults()
		return exitUsage
	}
	code, err := prepared(ctx, *version, *name, flags.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withsqlserver:", err)
		return exitFailed
	}
	return code
}

// prepared runs the command once there are a server and a database.
func prepared(ctx context.Context, version, name string, command []string) (code int, err error) {
	url := os.Getenv(variable)
	if url == "" {
		starting, cancel := context.WithTimeout(ctx, startPatience)
		defer cancel()
		c, err := start(starting, version)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, c.stop()) }()
		url = c.url
		if name == "" {
			name = settingNames()[0] // master is no place for tests
		}
	}
	if url, err = database(ctx, url, name); err != nil {
		return 0, err
	}
	is, err := describeServer(ctx, url)
	if err != nil {
		return 0, err
	}
	fmt.Fprintln(os.Stderr, "SQL Server", is)
	return runCommand(ctx, command, append(os.Environ(), variable+"="+url, describe+"="+is))
}

// runCommand runs the command on our own terminal. When this process is to end, the command gets the signal and is
// waited for: its clean-up needs the server.
func runCommand(ctx context.Context, command, env []string) (code int, err error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr, c.Env = os.Stdin, os.Stdout, os.Stderr, env
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	err = c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
