// Command evidence keeps what SQL Server has shown of pawl: docs/evidence/sqlserver.md has a row for each version,
// setting and package whose tests ran, and the sentences that say how far SQL Server is supported are made from it.
//
//	go run ./tools/evidence                        fails if a sentence claims anything else
//	go run ./tools/evidence -update                writes the sentences
//	go test -json … | go run ./tools/evidence -record FILE
//	                                               writes the rows of a run on the server that PAWL_TEST_SQLSERVER_IS
//	                                               describes, and prints them; fails if a test failed or none ran
//	go run ./tools/evidence -merge FILE…           puts the rows of runs in the place of those before
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	file = "docs/evidence/sqlserver.md"
	// variable describes the server, as sqlserver/internal/withsqlserver finds it: "2022 | READ_COMMITTED_SNAPSHOT on".
	variable = "PAWL_TEST_SQLSERVER_IS"
)

func main() {
	update := flag.Bool("update", false, "write the sentences")
	record := flag.String("record", "", "write the rows of the test events on standard input to `file`")
	merge := flag.Bool("merge", false, "put the rows of the files into "+file)
	flag.Parse()
	var err error
	switch {
	case *record != "":
		err = recordRun(os.Stdin, os.Stdout, *record)
	case *merge:
		err = mergeFiles(file, flag.Args())
	default:
		err = sentences(".", *update)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evidence:", err)
		os.Exit(1)
	}
}

// recordRun writes the rows of a run. What go test -json prints besides goes to out.
func recordRun(in io.Reader, out io.Writer, file string) error {
	version, setting, ok := strings.Cut(os.Getenv(variable), " | ")
	if !ok {
		return fmt.Errorf("%s does not say which server it is", variable)
	}
	commit, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output()
	if err != nil {
		return fmt.Errorf("the commit: %w", err)
	}
	found, err := read(in, out)
	if err != nil {
		return err
	}
	rows := found.rows(row{Version: version, Setting: setting, Commit: strings.TrimSpace(string(commit)), Date: time.Now().UTC().Format(time.DateOnly)})
	text := table(rows)
	fmt.Fprint(out, "\n"+text)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	passed, failed := sums(rows)
	switch {
	case failed > 0:
		return fmt.Errorf("%d failed: %s", failed, strings.Join(found.failures(), " "))
	case passed == 0:
		return errors.New("no test ran on SQL Server")
	}
	return nil
}

// mergeFiles puts the rows of runs into the file.
func mergeFiles(file string, runs []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rows, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, name := range runs {
		run, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		more, err := parse(string(run))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rows = replace(rows, more)
	}
	head, _, _ := strings.Cut(string(text), header)
	return os.WriteFile(file, []byte(head+table(rows)), 0o644)
}

// replace returns rows with those of later runs. A run replaces all rows of its version and setting: a package that it
// did not test has no evidence of its commit.
func replace(rows, run []row) []row {
	for _, r := range run {
		rows = slices.DeleteFunc(rows, func(old row) bool { return old.Version == r.Version && old.Setting == r.Setting })
	}
	rows = append(rows, run...)
	slices.SortStableFunc(rows, row.compare)
	return rows
}
