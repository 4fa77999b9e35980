// Package sdktest_test tests the workers of sdk, in Python and TypeScript, on PostgreSQL and beside
// workers of pawl.
package sdktest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/apt"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/postgres"

	"github.com/bravellian/pawl"
)

// sdk is the folder that is tested.
const sdk = "../../../sdk"

// python and node run programs of both.
var python, node string

// TestMain installs what is missing: without it the tests fail, they never pass by. With a URL in its
// environment this binary is a worker in Go.
func TestMain(m *testing.M) {
	if url := os.Getenv(workerURL); url != "" {
		os.Exit(work(url))
	}
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		os.Exit(m.Run())
	}
	if err := install(); err != nil {
		fmt.Fprintln(os.Stderr, "sdktest:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func install() error {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	python = "python3"
	if exec.CommandContext(ctx, python, "-c", "import psycopg").Run() != nil {
		if err := apt.Install(ctx, os.Stderr, "python3-psycopg"); err != nil {
			return err
		}
		python = "/usr/bin/python3" // Debian's: there may be another one in PATH
	}
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			if err := apt.Install(ctx, os.Stderr, "nodejs", "npm"); err != nil {
				return err
			}
		}
	}
	node = "node"
	for _, args := range [][]string{{"npm", "ci", "--no-audit", "--no-fund"}, {"npm", "run", "build"}} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = filepath.Join(sdk, "typescript")
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", args, err, output)
		}
	}
	return nil
}

// migrated returns the URL of a new database with pawl's tables.
func migrated(t testing.TB) string {
	t.Helper()
	url := testpg.Database(t)
	db, err := postgres.Open(url)
	must(t, err)
	p, err := pawl.New(db, pawl.Options{})
	must(t, err)
	must(t, p.Migrate(t.Context()))
	must(t, p.Close())
	return url
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// program returns a command of an SDK, with the connection string in its environment.
func program(ctx context.Context, url string, log io.Writer, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url, workerURL+"="+url, "PYTHONPATH="+filepath.Join(sdk, "python"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1")
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

// text is a value as a text: a string itself, anything else as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return string(bytes.TrimSpace(b.Bytes()))
}

func keys(m map[string]any) iter.Seq[string] { return maps.Keys(m) }

func indexes(list []any) []int {
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	return all
}
