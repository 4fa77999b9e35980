// Command pawl does durable work from the command line: it enqueues messages,
// runs a command for each, and shows and repairs what went wrong.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // jobs keep to their zones on machines that have no list of them, too

	_ "golang.org/x/crypto/x509roots/fallback" // servers are verified where the system has no roots, too

	"github.com/bravellian/pawl/cmd/pawl/internal/job"
)

// exitInterrupted is what shells report of a program that SIGINT ended.
const exitInterrupted = 130

func main() { os.Exit(start(os.Args[1:])) }

// interrupt is why a command line's context ended: a signal asked for it.
type interrupt struct{ signal os.Signal }

func (i *interrupt) Error() string { return i.signal.String() }
func (i *interrupt) Unwrap() error { return context.Canceled }

// interruptOf is the signal that ended ctx, or what stands for it.
func interruptOf(ctx context.Context) os.Signal {
	var i *interrupt
	if errors.As(context.Cause(ctx), &i) {
		return i.signal
	}
	return syscall.SIGTERM
}

// start runs a command line on this process's files and signals. The first
// SIGINT or SIGTERM asks to stop in order, a second one exits at once. Signals stay caught
// when it returns: one that arrives while the process exits must not end it before its exit
// code tells.
func start(args []string) int {
	if code, ours := job.Process(args); ours {
		return code
	}
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the process
		obey(signals, func(s os.Signal) { cancel(&interrupt{s}) })
		a.abort()
		os.Exit(exitInterrupted)
	}()
	return a.run(ctx, args)
}

// echo is for how long after the first signal others say nothing new: one stop arrives as
// several where GNU timeout, npm, make or a terminal send it to a process and to its group.
const echo = time.Second

// obey has stop called at the first signal, and returns at one that is no echo of it.
func obey(signals <-chan os.Signal, stop func(os.Signal)) {
	stop(<-signals)
	for first := time.Now(); time.Since(first) < echo; {
		<-signals
	}
}
