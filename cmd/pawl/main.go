// Command pawl does durable work from the command line: it enqueues messages,
// runs a command for each, and shows and mends what went wrong.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// exitInterrupted is what shells report of a program that SIGINT ended.
const exitInterrupted = 130

func main() { os.Exit(start(os.Args[1:])) }

// start runs a command line on this process's files and signals. The first
// SIGINT or SIGTERM asks to stop in order, the second exits at once.
func start(args []string) int {
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() { // ends with the process
		<-signals
		cancel()
		<-signals
		a.abort()
		os.Exit(exitInterrupted)
	}()
	return a.run(ctx, args)
}
