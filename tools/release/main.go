// Command release checks what GoReleaser built, in dist:
//
//	go run ./tools/release               all of this
//	go run ./tools/release formula       writes the Homebrew formula
//	go run ./tools/release contents      archives, packages and SBOMs hold what they have to
//	go run ./tools/release smoke         the program of this system runs in an empty directory
//	go run ./tools/release reproducible  the source archive, built elsewhere and from nothing,
//	                                            gives the same program
//
// Nothing is skipped: what a check needs and is not there is installed, or fails it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	dist := flag.String("dist", "dist", "the `directory` that GoReleaser wrote")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dist, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// check is one of those above.
type check struct {
	name string
	run  func(context.Context, *built) error
}

// checks are run in this order.
func checks() []check {
	return []check{
		{"formula", writeFormula},
		{"contents", checkContents},
		{"smoke", smoke},
		{"reproducible", reproducible},
	}
}

func run(ctx context.Context, dist, only string) error {
	b, err := readBuilt(dist)
	if err != nil {
		return err
	}
	var problems []error
	found := false
	for _, c := range checks() {
		if only == "" || only == c.name {
			found = true
			if err := c.run(ctx, b); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", c.name, err))
			}
		}
	}
	if !found {
		return fmt.Errorf("no check is named %q", only)
	}
	return errors.Join(problems...)
}

// built is what GoReleaser says that it built.
type built struct {
	dist     string
	Tag      string
	Version  string
	Commit   string
	artifact []artifact
}

// artifact is a file of a release.
type artifact struct {
	Name, Path, Type, Goos, Goarch string
}

func readBuilt(dist string) (*built, error) {
	b := &built{dist: dist}
	if err := readJSON(filepath.Join(dist, "metadata.json"), b); err != nil {
		return nil, fmt.Errorf("%w; run make snapshot", err)
	}
	return b, readJSON(filepath.Join(dist, "artifacts.json"), &b.artifact)
}

func readJSON(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// find returns the file of a type for a system.
func (b *built) find(kind, goos, goarch string) (string, error) {
	for _, a := range b.artifact {
		if a.Type == kind && a.Goos == goos && a.Goarch == goarch {
			return filepath.Join(b.dist, "..", a.Path), nil
		}
	}
	return "", fmt.Errorf("no %s for %s/%s", kind, goos, goarch)
}

// source returns the archive of the source.
func (b *built) source() string {
	return filepath.Join(b.dist, "pawl-"+b.Version+".tar.gz")
}
