//go:build unix

package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/test/dbtest"
)

// D-110
func TestHealthOfADatabase(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if out := d.must("", "health", "--exit-code"); !strings.Contains(out, "[+]schema ok") || !strings.HasSuffix(out, "health check passed\n") {
			t.Errorf("well:\n%s", out)
		}
		d.must("x", "enqueue", "--topic", "t", "--queue", "mail")
		d.must("x", "enqueue", "--topic", "t", "--due", "1h")
		if out := d.must("", "health", "--exit-code"); !strings.Contains(out, "nothing has been due for long") {
			t.Errorf("just due:\n%s", out)
		}
		late := []string{"health", "--waiting", "1us"}
		r := d.run("", append(late, "--exit-code")...)
		if want := "[-]waiting/queue/mail problem: queue mail: 1 message is due"; r.code != exitFailure || !strings.Contains(r.stdout, want) || r.stderr != "" {
			t.Errorf("nobody claims: %+v", r)
		}
		d.must("", late...)
		d.must("", append(late, "--exit-code", "--queue", "other")...)

		var got struct {
			Database string
			health.Report
		}
		if err := json.Unmarshal([]byte(d.must("", append(late, "--json")...)), &got); err != nil {
			t.Fatal(err)
		}
		if c := got.Find("waiting/queue/mail"); got.Level != health.Problem || c == nil || c.Facts.Get("due") != 1.0 || got.Database == "" {
			t.Errorf("%+v", got)
		}
		d.leaves("work", "--topic", "t", "--queue", "mail", "--exec", "exit 65", "--drain")
		if out := d.must("", append(late, "--exit-code")...); !strings.Contains(out, "1 message failed for good") {
			t.Errorf("failed:\n%s", out)
		}
	})
}

// D-110: what is not there is not made, and not well.
func TestHealthOfNothing(t *testing.T) {
	d := onSQLite(t)
	r := d.run("", "health", "--exit-code")
	if r.code != exitFailure || !strings.Contains(r.stdout, "[-]database problem: ") {
		t.Errorf("%+v", r)
	}
	path := strings.TrimPrefix(d.flags[0], "--db=sqlite:")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("made: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := d.run("", "health", "--exit-code"); r.code != exitFailure || !strings.Contains(r.stdout, "[-]schema problem: ") {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"--waiting", "0s"}, {"--timeout", "-1s"}, {"--fleet", "dir:" + filepath.Dir(path)}} {
		if r := d.run("", append([]string{"health"}, args...)...); r.code != exitUsage {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// D-110
func TestHealthOfAFleet(t *testing.T) {
	_, d := tenants(t)
	r := d.run("", "health", "--exit-code", "--waiting", "1us")
	for _, want := range []string{"a: problem\n    [-]waiting/queue/default", "b: problem\n", "broken: problem\n    [-]database problem: "} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if r.code != exitFailure || r.stderr != "3 stores, 3 of them failing\n" {
		t.Errorf("%+v", r)
	}
	r = d.run("", "health", "--json")
	if all := lines(r.stdout); r.code != exitOK || len(all) != 3 || !strings.HasPrefix(all[0], `{"store":"a","database":"sqlite:`) || !strings.Contains(all[0], `"level":"ok"`) {
		t.Errorf("%+v", r)
	}
}

// get asks a probe; status is 0 if nobody answers.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// tape is what a command says while it runs.
type tape struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *tape) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *tape) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var addressSaid = regexp.MustCompile(`answering probes" address=(\S+)`)

// D-110: a worker answers while it works and while it stops.
func TestWorkListens(t *testing.T) {
	for _, name := range []string{"database", "fleet"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := &database{t, []string{"--db=sqlite:" + filepath.Join(dir, "a.db")}}
			d.must("x", "enqueue", "--topic", "t")
			if name == "fleet" {
				d.flags = []string{"--fleet=dir:" + dir}
			}
			begun, done := filepath.Join(dir, "begun"), filepath.Join(dir, "done")
			exec := "touch " + begun + "; while [ ! -e " + done + " ]; do sleep 0.02; done"
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var said tape
			code := make(chan int, 1)
			go func() {
				a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &said}
				code <- a.run(ctx, d.line([]string{"work", "--topic", "t", "--exec", exec, "--listen", ":0", "-v"}))
			}()
			dbtest.Until(t, "the command runs", func() bool {
				_, err := os.Stat(begun)
				return err == nil && addressSaid.MatchString(said.String())
			})
			address := addressSaid.FindStringSubmatch(said.String())[1]
			if !strings.HasPrefix(address, "127.0.0.1:") {
				t.Errorf("listens at %s", address)
			}
			url := "http://" + address
			until := func(path string, want int, says string) {
				t.Helper()
				dbtest.Until(t, path+" says "+says, func() bool {
					status, body := get(t, url+path)
					return status == want && strings.Contains(body, says)
				})
			}
			until("/readyz?verbose", 200, "[+]process ok: running")
			until("/livez", 200, "ok")
			until("/metrics", 200, "pawl_handlers_running")
			until("/metrics", 200, "pawl_connections_open")
			if _, body := get(t, url+"/metrics"); name == "database" && strings.Contains(body, "pawl_connections_open 0\n") {
				t.Error("works, and yet no connection is open")
			}
			stop()
			until("/readyz", 503, "draining")
			until("/livez", 200, "ok")
			if err := os.WriteFile(done, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := <-code; got != exitOK {
				t.Errorf("exit code %d\n%s", got, &said)
			}
			if status, _ := get(t, url+"/livez"); status != 0 {
				t.Errorf("still answers: %d", status)
			}
		})
	}
}

// D-110
func TestWorkCannotListen(t *testing.T) {
	d := onSQLite(t)
	for address, code := range map[string]int{"8080": exitUsage, "127.0.0.1:": exitUsage, "127.0.0.1:99999": exitFailure} {
		if r := d.run("", "work", "--topic", "t", "--exec", "cat", "--drain", "--listen", address); r.code != code || !strings.Contains(r.stderr, "--listen") {
			t.Errorf("%s: %+v", address, r)
		}
	}
}
