package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// testLimit bounds one test. A mutant that makes its test hang is noticed by that.
const testLimit = 4 * time.Minute

// runner runs mutants.
type runner struct {
	root     string
	parallel int
	trust    bool       // that the tests pass without a mutant
	mu       sync.Mutex // guards out
	out      io.Writer
}

// verdict is what became of a mutant.
type verdict struct {
	killed bool
	by     string // the tests that failed, or why there is none
}

// run tests the code as it is, and then every mutant. A test that fails without a mutant says nothing about
// those it is to notice: they count as survivors, and the others are tried all the same, since all of them
// take hours.
func (r *runner) run(ctx context.Context, mutants []mutant) error {
	var unsound map[string]string
	if !r.trust {
		unsound = r.unsound(ctx, mutants)
	}
	verdicts := make([]verdict, len(mutants))
	r.each(len(mutants), func(i int) {
		if why := unsound[testOf(mutants[i])]; why != "" {
			verdicts[i] = verdict{by: why}
		} else {
			verdicts[i] = r.try(ctx, mutants[i])
		}
		r.report(mutants[i], verdicts[i])
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	survivors := 0
	for _, v := range verdicts {
		if !v.killed {
			survivors++
		}
	}
	fmt.Fprintf(r.out, "%d mutants, %d killed\n", len(mutants), len(mutants)-survivors)
	if survivors > 0 {
		return fmt.Errorf("%d mutants were not noticed by their tests", survivors)
	}
	return nil
}

// unsound says of each test that fails, or does not exist, without any mutant, what is wrong with it.
func (r *runner) unsound(ctx context.Context, mutants []mutant) map[string]string {
	var tests []string
	for _, m := range mutants {
		if t := testOf(m); !slices.Contains(tests, t) {
			tests = append(tests, t)
		}
	}
	problems := make([]string, len(tests))
	r.each(len(tests), func(i int) {
		out, err := r.test(ctx, r.root, strings.Fields(tests[i]))
		switch {
		case err != nil:
			problems[i] = fmt.Sprintf("none: without any mutant go test %s fails: %v\n%s", tests[i], err, tail(out))
		case !ranTests.MatchString(out):
			problems[i] = fmt.Sprintf("none: there is no test of that name: go test %s", tests[i])
		}
	})
	unsound := make(map[string]string)
	for i, t := range tests {
		unsound[t] = problems[i]
	}
	return unsound
}

func testOf(m mutant) string { return strings.Join(m.test, " ") }

// each calls do for 0 … n-1, several at once.
func (r *runner) each(n int, do func(i int)) {
	var wg sync.WaitGroup
	places := make(chan struct{}, max(1, r.parallel))
	for i := range n {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			do(i)
		})
	}
	wg.Wait()
}

// try runs a mutant's test with the mutant in place of its file.
func (r *runner) try(ctx context.Context, m mutant) verdict {
	dir, err := os.MkdirTemp("", "pawl-mutant-")
	if err != nil {
		return verdict{by: err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	text, err := m.apply(r.root)
	if err != nil {
		return verdict{by: err.Error()}
	}
	var out string
	if m.isBuilt() {
		overlay, bad := r.overlay(dir, m, text)
		if bad != nil {
			return verdict{by: bad.Error()}
		}
		out, err = r.test(ctx, r.root, m.test, "-overlay="+overlay)
	} else {
		if bad := r.copyWith(dir, m, text); bad != nil {
			return verdict{by: bad.Error()}
		}
		out, err = r.test(ctx, dir, m.test)
	}
	switch {
	case err == nil:
		return verdict{by: "survived"}
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return verdict{by: "does not compile:\n" + tail(out)}
	}
	return verdict{true, failed(out)}
}

// isBuilt tells whether the compiler reads the file, and not a test when it runs, which sees no overlay.
func (m mutant) isBuilt() bool {
	return !strings.HasPrefix(m.file, "docs/") && !strings.HasPrefix(m.file, "site/") && !strings.HasPrefix(m.file, "deploy/") && !strings.HasPrefix(m.file, "sdk/") && !strings.HasSuffix(m.file, ".md")
}

// copyWith copies everything but the history into dir, with the changed file in its place.
func (r *runner) copyWith(dir string, m mutant, text string) error {
	entries, err := os.ReadDir(r.root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		from, to := filepath.Join(r.root, e.Name()), filepath.Join(dir, e.Name())
		switch {
		case e.Name() == ".git":
		case e.IsDir():
			err = os.CopyFS(to, os.DirFS(from))
		default:
			var file []byte
			if file, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, file, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, m.file), []byte(text), 0o600)
}

// overlay writes the changed file and what go test reads it by.
func (r *runner) overlay(dir string, m mutant, text string) (string, error) {
	changed := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	original, err := filepath.Abs(filepath.Join(r.root, m.file))
	if err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, replace, 0o600)
}

// test runs a test. Flags are for all that is built: what the test itself builds as well, as those of the
// examples do.
func (r *runner) test(ctx context.Context, dir string, args []string, flags ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, testLimit+time.Minute)
	defer cancel()
	env := append(os.Environ(), "GOFLAGS="+strings.Join(append(strings.Fields(os.Getenv("GOFLAGS")), flags...), " "))
	if len(args) > 2 && args[0] == "-C" { // a module that is not in go.work
		dir, args, env = filepath.Join(dir, args[1]), args[2:], append(env, "GOWORK=off")
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off", "-count=1", "-failfast", "-timeout", testLimit.String()}, args...)...)
	cmd.Dir = dir
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// ranTests matches the line of a package in which a test of the given name ran.
var ranTests = regexp.MustCompile(`(?m)^ok\s+\S+\s+\S+$`)

var failLine = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// failed names the innermost tests that failed.
func failed(out string) string {
	var names []string
	for _, match := range failLine.FindAllStringSubmatch(out, -1) {
		names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(match[1], n+"/") })
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, match[1]+"/") }) {
			names = append(names, match[1])
		}
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case strings.Contains(out, "test timed out"):
		return "a test that did not end"
	}
	return "a crash of the test"
}

func (r *runner) report(m mutant, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	word := "killed  "
	if !v.killed {
		word = "SURVIVED"
	}
	fmt.Fprintf(r.out, "%s  %s  %s  %s\n          by %s\n", word, m.position, m.file, m.title, v.by)
}

// tail returns the end of an output.
func tail(out string) string {
	const most = 2000
	if len(out) > most {
		return "…" + out[len(out)-most:]
	}
	return out
}
