package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/bravellian/pawl/internal/test/dbtest"
)

var dashboardSaid = regexp.MustCompile(`The dashboard is at (\S+)`)

// dashboardOf runs "pawl ui" and returns where it is, and what ends it.
func (d *database) dashboardOf(args ...string) (at string, stop func() (code int, stderr string)) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	d.t.Cleanup(cancel)
	var said tape
	code := make(chan int, 1)
	go func() {
		a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &said}
		if !slices.Contains(args, "--listen") {
			args = append(args, "--listen", ":0")
		}
		code <- a.run(ctx, d.line(append([]string{"ui"}, args...)))
	}()
	dbtest.Until(d.t, "the dashboard is served", func() bool { return dashboardSaid.MatchString(said.String()) })
	return dashboardSaid.FindStringSubmatch(said.String())[1], func() (int, string) {
		cancel()
		return <-code, said.String()
	}
}

// D-218: pawl ui serves a database or a fleet until it is interrupted.
func TestUI(t *testing.T) {
	dir := t.TempDir()
	d := &database{t, []string{"--db=sqlite:" + filepath.Join(dir, "a.db")}}
	d.must("x", "enqueue", "--topic", "mail")
	for name, flags := range map[string][]string{"database": d.flags, "fleet": {"--fleet=dir:" + dir}} {
		at, stop := (&database{t, flags}).dashboardOf()
		if !strings.HasPrefix(at, "http://127.0.0.1:") {
			t.Errorf("without a host it is served at %s", at)
		}
		status, body := get(t, at+"messages")
		if status != http.StatusOK || !strings.Contains(body, "mail") {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if name == "fleet" {
			if status, body := get(t, at+"stores"); status != http.StatusOK || !strings.Contains(body, "a.db") {
				t.Errorf("stores: %d %s", status, body)
			}
		}
		if code, stderr := stop(); code != exitOK || strings.Contains(stderr, "WARN") {
			t.Errorf("%s: ended with %d: %s", name, code, stderr)
		}
	}
}

// D-219: it asks for names and passwords, if there is a file of them.
func TestUIBasicAuth(t *testing.T) {
	d := onSQLite(t)
	d.must("secret payload", "enqueue", "--topic", "mail")
	hash, err := bcrypt.GenerateFromPassword([]byte("p"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "people")
	if err := os.WriteFile(file, []byte("vera:"+string(hash)+":viewer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at, stop := d.dashboardOf("--basic-auth", file)
	defer stop()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(answer.Header.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("without a password: %d %v", answer.StatusCode, answer.Header)
	}
	r.SetBasicAuth("vera", "p")
	answer, err = http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("with it: %d", answer.StatusCode)
	}
	for _, args := range [][]string{{"--basic-auth", filepath.Join(t.TempDir(), "none")}, {"--listen", "8080"}, {"--origin", "ops.example"}} {
		if r := d.run("", append([]string{"ui"}, args...)...); r.code != exitUsage {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
