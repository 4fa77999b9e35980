// Command pawl does durable work from the command line: it enqueues messages,
// runs a command for each, and shows and repairs what went wrong.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // jobs keep to their zones on machines that have no list of them, too

	_ "golang.org/x/crypto/x509roots/fallback" // servers are verified where the system has no roots, too
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
// SIGINT or SIGTERM asks to stop in order, the second exits at once.
func start(args []string) int {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() { // ends with the process
		cancel(&interrupt{<-signals})
		<-signals
		a.abort()
		os.Exit(exitInterrupted)
	}()
	return a.run(ctx, args)
}
