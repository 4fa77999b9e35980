// Command bench measures pawl beside other queues and plain SQL on the same machine in
// the same run: a figure alone says as much about the disk as about the library.
//
//	cd bench && go run . [-engine sqlite,postgres] [-scenario A,D] [-n 60000] [-reps 5] [-quick] [-results results]
//
// PostgreSQL is the server that PAWL_TEST_POSTGRES names; `make bench` starts
// one. Everything in its schema pawl_bench is dropped. See README.md for what
// the scenarios mean.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
)

// variable names the environment variable that names the PostgreSQL server.
const variable = "PAWL_TEST_POSTGRES"

// withPeers are the scenarios that peers take part in.
const withPeers = "A,B,C,D,G"

// options are the command line.
type options struct {
	engines   []string
	scenarios []string
	systems   []string
	n         int
	reps      int
	cores     []int
	profiles  string
	results   string
	verbose   bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	if url := os.Getenv(workerVariable); url != "" {
		err = work(ctx, url)
	} else {
		err = bench(ctx, parse())
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse() options {
	engines := flag.String("engine", "postgres,sqlite", "engines to measure")
	scenarios := flag.String("scenario", withPeers, "scenarios to measure, e.g. A,C; all: every one")
	systems := flag.String("system", "", "systems to measure, e.g. pawl; empty: all (ratios need the floors)")
	n := flag.Int("n", 60_000, "messages of the batch scenarios; the others scale with it")
	reps := flag.Int("reps", 5, "repetitions, interleaved; the tables show medians")
	quick := flag.Bool("quick", false, "a rough look in two minutes: a quarter of the messages, one repetition")
	cores := flag.String("cores", "", "measure pawl alone, on so many of the machine's cores in turn, e.g. 1,2,4,8,16")
	profiles := flag.String("profile", "", "write CPU profiles of what is measured into this directory")
	results := flag.String("results", "results", "write a report with charts into a new folder of this directory; empty: do not")
	verbose := flag.Bool("v", false, "print the figures of every repetition to stderr")
	flag.Parse()
	o := options{split(*engines), split(*scenarios), split(*systems), *n, *reps, nil, *profiles, *results, *verbose}
	for _, text := range split(*cores) {
		k, err := strconv.Atoi(text)
		if err != nil || k < 1 {
			fmt.Fprintln(os.Stderr, "bench: -cores:", text, "is no number of cores")
			os.Exit(2)
		}
		o.cores = append(o.cores, k)
	}
	if *scenarios == "all" {
		o.scenarios = nil
	}
	if *quick {
		o.n, o.reps = o.n/4, 1
	}
	return o
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// bench measures what the options ask for and prints a table per scenario.
func bench(ctx context.Context, o options) error {
	var srv *server
	if slices.Contains(o.engines, "postgres") {
		var err error
		if srv, err = connect(ctx, os.Getenv(variable)); err != nil {
			return fmt.Errorf("%s: %w (`make bench` starts a server)", variable, err)
		}
		defer srv.close(ctx)
	}
	p := newReport(o.results)
	p.head(o, srv)
	for _, s := range scenarios(o.n) {
		if !slices.Contains(o.engines, s.engine) || !wanted(o.scenarios, s.name) {
			continue
		}
		waits := waited{}
		if o.cores != nil {
			s = s.scaled(o.cores, waits)
		}
		results, err := s.measure(ctx, o, srv, p.fail)
		if err != nil {
			return err
		}
		if err := p.add(&s, results); err != nil {
			return err
		}
		waits.print(p.out, &s)
	}
	return p.end(o.engines)
}

func wanted(list []string, name string) bool {
	return len(list) == 0 || slices.Contains(list, name)
}
