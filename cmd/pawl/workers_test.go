package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/sql/sqlite"
)

// workers are those that "pawl workers" lists.
func (d *database) workers(args ...string) (all []workerJSON) {
	d.t.Helper()
	for line := range strings.Lines(d.must("", append([]string{"workers", "--json"}, args...)...)) {
		var v workerJSON
		decode(d.t, line, &v)
		all = append(all, v)
	}
	return all
}

// expireWorkers makes all workers ones that were not heard of for long.
func (d *database) expireWorkers() {
	d.t.Helper()
	d.opened(func(s *store) {
		var err error
		if lite, ok := engine.As[*sqlite.DB](s); ok {
			_, err = lite.SQL().ExecContext(d.t.Context(), `UPDATE worker_process SET expires_at = heartbeat_at`)
		} else if pg, ok := engine.As[*postgres.DB](s); ok {
			schema := strings.TrimPrefix(d.flags[1], "--schema=")
			_, err = pg.Pool().Exec(d.t.Context(), fmt.Sprintf(`UPDATE %q.worker_process SET expires_at = heartbeat_at`, schema))
		}
		if err != nil {
			d.t.Fatal(err)
		}
	})
}

// A worker is listed while it runs, and if it was killed until it is believed to be
// gone; then --all shows it.
func TestWorkers(t *testing.T) {
	onOne(t, func(t *testing.T, d *database) {
		d.must("", "migrate")
		if r := d.run("", "workers", "--all"); r != (result{stderr: "no workers\n"}) {
			t.Errorf("none: %+v", r)
		}
		work := []string{"work", "--topic", "t", "--topic", "u\x1b[2J", "--queue", "q", "-c", "3", "--exec", "cat"}
		polite, victim := d.process(work...), d.process(work...)
		eventually(t, "both to be listed", func() bool { return len(d.workers()) == 2 })
		for _, w := range d.workers() {
			if w.PID != int64(polite.Process.Pid) && w.PID != int64(victim.Process.Pid) {
				t.Errorf("who is it? %+v", w)
			}
			if w.Name == "" || w.Host == "" || w.ID == [16]byte{} || w.Started.IsZero() || w.Heartbeat.Before(w.Started) || !w.Alive || w.Shared || w.InFlight != 0 ||
				!slices.Equal(w.Topics, []string{"join.wait", "t", "u\x1b[2J"}) || !slices.Equal(w.Queues, []string{"q"}) || w.Concurrency != 3 {
				t.Errorf("%+v", w)
			}
		}
		out := d.must("", "workers")
		if got := lines(out); len(got) != 3 || !strings.HasPrefix(got[0], "WORKER ") || !strings.Contains(got[1], "  alive  ") || !strings.Contains(got[1], `u\x1b[2J`) {
			t.Errorf("%s", out)
		}
		polite.signal(syscall.SIGTERM)
		if code := polite.wait(); code != exitOK {
			t.Errorf("exit code %d: %s", code, polite.stderr.String())
		}
		if err := victim.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		victim.wait()
		if left := d.workers(); len(left) != 1 || left[0].PID != int64(victim.Process.Pid) {
			t.Errorf("left: %+v", left)
		}
		d.expireWorkers()
		if r := d.run("", "workers"); r != (result{stderr: "no workers\n"}) {
			t.Errorf("gone: %+v", r)
		}
		if all := d.workers("--all"); len(all) != 1 || all[0].PID != int64(victim.Process.Pid) || all[0].Alive {
			t.Errorf("all: %+v", all)
		}
		if out := d.must("", "workers", "--all"); len(lines(out)) != 2 || !strings.Contains(out, "  gone  ") {
			t.Errorf("all:\n%s", out)
		}
	})
}
