package sdktest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/enginetest"
)

// blocks returns the code of a language in a page.
func blocks(t *testing.T, page, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	if len(all) == 0 {
		t.Fatalf("%s has no %s", page, language)
	}
	return all
}

// D-808: the first programs are short, and do what they say until they are stopped.
func TestPrograms(t *testing.T) {
	for language, build := range map[string]func(*testing.T, string) []string{"python": pythonProgram, "typescript": typescriptProgram} {
		t.Run(language, func(t *testing.T) {
			code := blocks(t, filepath.Join(sdk, language, "README.md"), language)[0]
			if n := strings.Count(code, "\n"); n > 17 {
				t.Errorf("it has %d lines", n)
			}
			var output enginetest.LockedBuffer
			cmd := program(t.Context(), migrated(t), &output, build(t, code)...)
			must(t, cmd.Start())
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(output.String())
				}
			})
			enginetest.Until(t, "a mail is sent", func() bool { return strings.Contains(output.String(), "mail to a@example.com") })
			must(t, cmd.Process.Signal(syscall.SIGTERM))
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, output.String())
			}
		})
	}
}

func pythonProgram(t *testing.T, code string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "first.py")
	must(t, os.WriteFile(file, []byte(code), 0o600))
	return []string{python, file}
}

// typescriptProgram compiles the program where it finds the package by its name.
func typescriptProgram(t *testing.T, code string) []string {
	t.Helper()
	dir := filepath.Join(sdk, "typescript/dist/first")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "first.ts"), []byte(code), 0o600))
	cmd := exec.CommandContext(t.Context(), "npx", "tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck", "dist/first/first.ts")
	cmd.Dir = filepath.Join(sdk, "typescript")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return []string{node, filepath.Join(dir, "first.js")}
}

// D-808: the Python of docs/sql.md runs, one block after the other.
func TestDocumentedPython(t *testing.T) {
	const before = `
import json, os, uuid
import psycopg
url, sent, event = os.environ["DATABASE_URL"], [], {"id": "7"}
send = sent.append
conn = psycopg.connect(url, autocommit=True)
conn.execute("CREATE TABLE orders (id integer)")
`
	const after = `
assert sent == ['{"to":"a@example.com"}'], sent
assert new is True
assert conn.execute("SELECT count(*) FROM pawl.timers WHERE status = 'Cancelled'").fetchone()[0] == 1
assert conn.execute("SELECT count(*) FROM pawl.outbox WHERE queue = 'mail' AND status = 2").fetchone()[0] == 1
`
	all := blocks(t, "../../../docs/sql.md", "python")
	reopen := "conn = psycopg.connect(url, autocommit=True)\n" // a with closes it
	var output enginetest.LockedBuffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := program(ctx, migrated(t), &output, pythonProgram(t, strings.Join(slices.Concat([]string{before}, interleave(all, reopen), []string{after}), "\n"))...)
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, output.String())
	}
}

func interleave(all []string, between string) (out []string) {
	for _, s := range all {
		out = append(out, s, between)
	}
	return out
}
