//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/view"
)

// D-12: what a killed worker held comes back by itself, and costs no attempt.
func TestKilledWorkerIsRedelivered(t *testing.T) {
	const lease, poll, slack = 4 * time.Second, time.Second, 20 * time.Second
	onEngines(t, func(t *testing.T, d *database) {
		t.Parallel()
		mark := filepath.Join(t.TempDir(), "began")
		d.must("precious", "enqueue", "--topic", "t")
		victim := d.process("work", "--topic", "t", "--lease", lease.String(), "--exec", `echo "$PAWL_ATTEMPT" > "`+mark+`"; exec sleep 100`)
		eventually(t, "the handler begins", func() bool { return read(t, mark) != "" })
		if err := victim.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		victim.wait()
		killed := time.Now()

		heir := d.process("work", "--topic", "t", "--lease", lease.String(), "--exec", `cat >> "`+mark+`"; echo " $PAWL_ATTEMPT" >> "`+mark+`"`)
		eventually(t, "redelivery", func() bool { return strings.Contains(read(t, mark), "precious 1\n") })
		if took := time.Since(killed); took > lease+poll+slack {
			t.Errorf("redelivered only after %v", took)
		}
		heir.signal(syscall.SIGTERM)
		if code := heir.wait(); code != exitOK {
			t.Errorf("exit code %d: %s", code, heir.stderr.String())
		}
		var counts struct{ Ready, Scheduled, Running, Done, Failed int }
		decode(t, d.must("", "ls", "--counts", "--json"), &counts)
		if counts.Done != 1 || counts.Ready+counts.Scheduled+counts.Running+counts.Failed != 0 {
			t.Errorf("counts: %+v", counts)
		}
	})
}

// What a killed worker held is due for a drain as well.
func TestDrainTakesWhatExpired(t *testing.T) {
	d := onSQLite(t)
	mark := filepath.Join(t.TempDir(), "began")
	d.must("x", "enqueue", "--topic", "t")
	victim := d.process("work", "--topic", "t", "--lease", "1s", "--exec", `echo > "`+mark+`"; exec sleep 100`)
	eventually(t, "the handler begins", func() bool { return read(t, mark) != "" })
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	victim.wait()
	eventually(t, "a drain that delivers", func() bool { return d.must("", "work", "--topic", "t", "--exec", "cat", "--drain") == "x\n" })
}

// D-19: the first signal lets a command finish, and its message is done.
func TestGracefulStop(t *testing.T) {
	onEngines(t, func(t *testing.T, d *database) {
		dir := t.TempDir()
		began, goOn := filepath.Join(dir, "began"), filepath.Join(dir, "go-on")
		d.must("x", "enqueue", "--topic", "t")
		p := d.process("work", "--topic", "t", "--exec", `echo > "`+began+`"; while [ ! -e "`+goOn+`" ]; do sleep 0.01; done; echo finished`)
		eventually(t, "the handler begins", func() bool { return read(t, began) != "" })
		p.signal(syscall.SIGTERM)
		if err := os.WriteFile(goOn, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if code := p.wait(); code != exitOK || p.stdout.String() != "finished\n" || !strings.Contains(p.stderr.String(), "1 done") {
			t.Errorf("exit code %d, %q, %q", code, p.stdout.String(), p.stderr.String())
		}
		if out := d.must("", "ls", "--done", "--json"); len(lines(out)) != 1 {
			t.Errorf("not done: %s", d.must("", "ls"))
		}
	})
}

// D-19: a command that does not end within the grace period is ended, and its
// message goes back at once without counting an attempt.
func TestGraceIsOver(t *testing.T) {
	d := onSQLite(t)
	began := filepath.Join(t.TempDir(), "began")
	d.must("x", "enqueue", "--topic", "t")
	p := d.process("work", "--topic", "t", "--grace", "10ms", "--exec", `echo > "`+began+`"; exec sleep 100`)
	eventually(t, "the handler begins", func() bool { return read(t, began) != "" })
	p.signal(syscall.SIGINT)
	if code := p.wait(); code != exitOK {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
	var m view.Message
	decode(t, d.must("", "ls", "--json"), &m)
	if m.Status != "ready" || m.RetryCount != 0 {
		t.Errorf("afterwards: %+v", m)
	}
}

func TestSecondSignalExitsAtOnce(t *testing.T) {
	d := onSQLite(t)
	pid := filepath.Join(t.TempDir(), "pid")
	d.must("x", "enqueue", "--topic", "t")
	p := d.process("work", "--topic", "t", "--exec", `echo $$ > "`+pid+`"; exec sleep 100`)
	eventually(t, "the handler begins", func() bool { return strings.HasSuffix(read(t, pid), "\n") })
	p.signal(syscall.SIGINT)
	// Signals of one kind that come together are merged.
	eventually(t, "the second signal to be seen", func() bool {
		_ = p.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.ended:
			return true
		default:
			return false
		}
	})
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
	eventually(t, "the command to be gone", func() bool { return gone(strings.TrimSpace(read(t, pid))) })
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// gone reports whether a process ended; one that only waits to be collected
// did.
func gone(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}
