//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/canary"
)

// secretive is a database whose command lines are watched.
type secretive struct {
	*database
	*canary.Watch
}

// does runs a command line and notes what it prints.
func (s *secretive) does(code int, stdin string, args ...string) {
	s.t.Helper()
	r := s.run(stdin, args...)
	if r.code != code {
		s.t.Errorf("pawl %s: exit code %d, want %d\n%s", strings.Join(args, " "), r.code, code, r.stderr)
	}
	s.Saw("pawl "+strings.Join(args[:min(2, len(args))], " "), r.stdout+r.stderr)
}

// OBX-125, D-5: no command line prints a payload or a header's value, whatever
// becomes of messages, but where it is asked for it.
func TestCommandsTellNothingSecret(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		s := &secretive{d, canary.New()}
		payload, header := s.Plant("a payload"), "authorization="+s.Plant("a header")
		envelope := fmt.Sprintf(`{"topic":"fine","payload":{"a":"%s"},"headers":{"h":"%s"}}`, payload, s.Plant("an envelope's header"))
		s.does(0, payload+"\n", "enqueue", "--topic", "fine", "--header", header)
		s.does(0, envelope, "enqueue", "--json")
		s.does(0, "", "timers", "add", "--topic", "fine", "--due", "0s", "--data", payload, "--header", header)
		s.does(0, "", "timers", "add", "--topic", "fine", "--due", "1h", "--data", payload, "--header", header, "--key", "k")
		s.does(0, "", "jobs", "put", "j", "--topic", "fine", "--schedule", "@daily", "--data", payload, "--header", header)
		s.does(0, "", "jobs", "run", "j")
		s.does(exitOK, "", "work", "--drain", "--topic", "fine", "--exec", "cat >/dev/null", "--verbose")
		s.does(0, payload, "enqueue", "--topic", "fails", "--header", header)
		s.does(exitLeft, "", "work", "--drain", "--topic", "fails", "--exec", "cat >/dev/null; exit 65", "--verbose", "--json")
		for _, list := range []string{"ls", "ls --failed", "ls --counts", "timers ls", "timers cancel --key k", "jobs ls", "jobs runs j", "joins ls", "inbox ls", "leases ls", "retry --all", "discard --all"} {
			s.does(0, "", strings.Fields(list)...)
		}
		// Input that cannot be read, or is refused.
		for _, bad := range []string{
			payload, `{"topic":"t","payload":"` + payload, `{"topic":"t","payload":"x"}}` + payload,
			`{"topic":"t","payload":1,"headers":{"h":["` + payload + `"]}}`, `{"topic":"t","payload_base64":"` + payload + `="}`, `"` + payload + `"`,
			`{"topic":"t","payload":"x"} ` + payload, `{"topic":7,"payload":"` + payload + `"}`,
		} {
			s.does(exitFailure, bad, "enqueue", "--format", "envelope")
		}
		s.does(exitFailure, strings.Repeat(payload, 100), "enqueue", "--topic", "t", "--max-payload", "1000")
		s.does(exitUsage, "", "enqueue", "--topic", "t", "--header", s.Plant("a header without a name"))
		s.does(exitUsage, "", "jobs", "put", "x", "--topic", "t", "--schedule", "never", "--data", payload, "--header", header)
		t.Setenv("PAWL_ENQUEUE_HEADER", s.Plant("a variable"))
		s.does(exitUsage, "", "enqueue", "--topic", "t")
		s.Check(t)
	})
}

// D-5: no command line prints a password, however wrong the database's name is.
func TestCommandsTellNoPassword(t *testing.T) {
	w := canary.New()
	list := filepath.Join(t.TempDir(), "stores")
	var stores []string
	for i, db := range []string{
		"postgres://u:" + w.Plant("a password") + "@127.0.0.1:1/d",
		"postgres://127.0.0.1:1/d?user=u&password=" + w.Plant("a parameter"),
		"postgres://127.0.0.1:1/d?user=u&password=" + w.Plant("a semicolon") + ";x",
		"postgres://u:12/" + w.Plant("a slash") + "@127.0.0.1/d",
		"postgres://u:12?" + w.Plant("a question") + "@127.0.0.1/d",
		"postgres://u:" + w.Plant("a bad escape") + "%zz@127.0.0.1/d",
		"postgres://u:" + w.Plant("a bad port") + "@127.0.0.1:port/d",
		"postgres://u:top@" + w.Plant("an at") + "@127.0.0.1:1/d",
		"postgres://u:p@127.0.0.1:1,u:" + w.Plant("a second host's") + "@127.0.0.1:2/d",
		"postgres://u:12?x=" + w.Plant("an equals sign") + "@127.0.0.1/d",
		"postgres://u:a@127.0.0.1:1/" + w.Plant("an at and a slash") + "@127.0.0.1/d",
		"postgres://u:a%40" + w.Plant("one that is escaped") + "@127.0.0.1:1/d",
		"sqlite://u:" + w.Plant("a wrong engine") + "@127.0.0.1/d",
		"Server=tcp:127.0.0.1,1;User ID=u;Password=" + w.Plant("another engine's list") + ";Database=d",
		"sqlserver://u:" + w.Plant("another engine's URL") + "@127.0.0.1:1?database=d",
		"host=127.0.0.1 port=1 password=" + w.Plant("a list"),
		"host=u:" + w.Plant("a host") + "@127.0.0.1 port=1",
		"host=127.0.0.1 port=1 password=" + w.Plant("a list with a colon") + ":x",
		"mysql://u:" + w.Plant("another engine") + "@h/d",
	} {
		if !strings.Contains(db, " ") {
			stores = append(stores, fmt.Sprintf("s%d %s", i, db))
		}
		for _, line := range []string{"enqueue --topic t", "migrate", "ls", "show 1", "work --topic t --exec true --drain", "doctor", "health --exit-code", "leases ls", "jobs ls", "timers ls"} {
			r := command(t.Context(), "x", append(strings.Fields(line), "--db", db)...)
			if r.code == exitOK || r.stdout+r.stderr == "" {
				t.Errorf("pawl %s --db %s: %+v", line, db, r)
			}
			w.Saw("pawl "+line, r.stdout+r.stderr)
		}
		r := command(t.Context(), "", "fleet", "ls", "--fleet", "table:"+db)
		w.Saw("pawl fleet ls", r.stdout+r.stderr)
		r = command(t.Context(), "", "fleet", "ls", "--fleet", db)
		w.Saw("pawl fleet ls", r.stdout+r.stderr)
	}
	if err := os.WriteFile(list, []byte(strings.Join(stores, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"fleet ls", "fleet ls --json", "fleet status", "fleet status --json", "doctor", "doctor --json", "health", "migrate"} {
		r := command(t.Context(), "", append(strings.Fields(line), "--fleet", "list:"+list)...)
		w.Saw("pawl "+line+" of a list", r.stdout+r.stderr)
	}
	w.Check(t)
}
