//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/examples/demo/checkout"
	"github.com/bravellian/pawl/examples/demo/etl"
	"github.com/bravellian/pawl/examples/demo/shop"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// someOrders is a file with a few of the bundled orders.
func someOrders(t *testing.T, n int) string {
	t.Helper()
	var all bytes.Buffer
	if _, err := all.ReadFrom(shop.Bundled()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "orders.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(strings.SplitAfter(all.String(), "\n")[:n], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestDemo(t *testing.T) {
	const orders, runs, checkouts = 150, 40, 40
	for _, db := range []string{"sqlite:ignored.db", testpg.URL(t)} {
		t.Run(strings.SplitN(db, ":", 2)[0], func(t *testing.T) {
			t.Setenv(asCommand, "1") // for the workers
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			r := command(t.Context(), "", "demo", "--db", db, "--orders", someOrders(t, orders), "--runs", strconv.Itoa(runs), "--checkouts", strconv.Itoa(checkouts), "--json")
			if r.code != exitOK {
				t.Fatalf("exit code %d\n%s", r.code, r.stderr)
			}
			out := lines(r.stdout)
			if len(out) != 3 {
				t.Fatalf("%d scenes: %s", len(out), r.stdout)
			}
			var v shop.Verdict
			decode(t, out[0], &v)
			if v.Committed+v.RolledBack != orders || v.Messages != 2*v.Committed || v.Delivered+v.Failed != v.Messages || v.Lost != 0 || v.Phantom != 0 {
				t.Errorf("verdict: %+v", v)
			}
			var e etl.Verdict
			decode(t, out[1], &e)
			if e.Runs != runs || e.Failed == 0 || e.Transforms != e.Completed || e.Notices != e.Failed || !e.Good() {
				t.Errorf("verdict: %+v", e)
			}
			var c checkout.Verdict // D-792
			decode(t, out[2], &c)
			if c.Checkouts != checkouts || c.Refunded == 0 || !c.Good() {
				t.Errorf("verdict: %+v", c)
			}
			if n := strings.Count(r.stderr, "killed with SIGKILL"); n != 3 {
				t.Errorf("%d were killed, not one in each scene:\n%s", n, r.stderr)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	if n := demoSchemas(t); n != 0 {
		t.Errorf("%d schemas left behind", n)
	}
}

func demoSchemas(t *testing.T) (n int) {
	conn, err := pgx.Connect(t.Context(), testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pawl_demo_%'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDemoRefusesBadOrders(t *testing.T) {
	good := `{"id":"1","customer":{"email":"a@example.com"},"lines":[{"quantity":2,"unit_cents":5}],"total_cents":10}` + "\n"
	for in, want := range map[string]string{
		"":                                   "no orders",
		good + "{":                           "line 2: not an order",
		good + good:                          `line 2: a second order "1"`,
		good + `{"id":"2"}`:                  "line 2: the customer has no email",
		strings.Replace(good, "10", "11", 1): "line 1: the total is 11, its parts make 10",
	} {
		file := filepath.Join(t.TempDir(), "orders.jsonl")
		if err := os.WriteFile(file, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := command(t.Context(), "", "demo", "--orders", file); r.code != exitFailure || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: %+v; want %q", in, r, want)
		}
	}
}
