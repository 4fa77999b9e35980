// Command mutants shows that tests fail when the code is wrong:
//
//	go run ./tools/mutants [-only text] [-j n]    run all mutants, or those that contain a text
//	go run ./tools/mutants -trust                 the same in half the time, after make test
//	go run ./tools/mutants -check                 only check that the list fits the code
//
// A mutant is one small change of a file that breaks one requirement, and the test
// that is to notice. The lists are the files of the folder list:
//
//	OBX-012: a message due in the future is claimed
//	file internal/sql/sqlite/anydriver/outbox/claim_pick.sql
//	test ./outbox -run TestEnqueueDue$/sqlite
//	-  AND at <= ?1
//	+
//
// Lines after a minus are the text to find, exactly once in the file; lines after a
// plus take its place. A test in a module that is not in go.work begins with
// -C and its folder. Mutants are built with an overlay, so nothing on disk changes
// and several can run at once; one of a page, of the site, of deploy or of sdk, which tests read when they
// run, is made in a copy of everything. A mutant that its test does not notice survives, and
// a survivor fails the run. So does a mutant that does not compile, and one whose
// test fails, or does not exist, without it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

const listFolder = "tools/mutants/list"

func main() {
	r := runner{out: os.Stdout}
	flag.StringVar(&r.root, "root", ".", "the `directory` of the module")
	flag.IntVar(&r.parallel, "j", 2, "how `many` run at once")
	flag.BoolVar(&r.trust, "trust", false, "do not run the tests without a mutant first: make test has passed")
	check := flag.Bool("check", false, "run nothing; fail when a mutant does not fit the code")
	only := flag.String("only", "", "run the mutants whose place in the lists, description, file or test contains this `text`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &r, *check, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, r *runner, check bool, only string) error {
	mutants, err := readLists(r.root)
	if err != nil {
		return err
	}
	if err := fit(r.root, mutants); err != nil || check {
		return err
	}
	mutants = choose(mutants, only)
	if len(mutants) == 0 {
		return fmt.Errorf("no mutant contains %q", only)
	}
	return r.run(ctx, mutants)
}

// fit complains about every mutant whose text is not, or not only once, in its file.
func fit(root string, mutants []mutant) error {
	var problems []error
	seen := make(map[string]bool)
	for _, m := range mutants {
		if _, err := m.apply(root); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", m.position, err))
		}
		key := m.file + "\n" + m.old + "\n" + m.new
		if seen[key] {
			problems = append(problems, fmt.Errorf("%s: listed twice", m.position))
		}
		seen[key] = true
	}
	return errors.Join(problems...)
}

func choose(mutants []mutant, text string) []mutant {
	var chosen []mutant
	for _, m := range mutants {
		if strings.Contains(strings.Join([]string{m.position, m.title, m.file, testOf(m)}, "\n"), text) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}
