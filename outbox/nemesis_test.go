//go:build unix

package outbox_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/outbox"
)

// nemesis kills and pauses workers.
type nemesis struct {
	t       *testing.T
	env     []string
	log     string // path
	all     []*exec.Cmd
	stopped map[int]bool
	kills   int
}

// newNemesis returns a nemesis of workers that do a task; see TestMain.
func newNemesis(t *testing.T, v *victims, task string) *nemesis {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return &nemesis{t: t, env: append(v.env, victimTask+"="+task, victimLog+"="+log), log: log, stopped: map[int]bool{}}
}

// openLog opens the log of what workers do. Every line that they write is one write, so lines of
// several processes stay whole and are in the order of what happened.
func openLog() (*os.File, error) {
	return os.OpenFile(os.Getenv(victimLog), os.O_WRONLY|os.O_APPEND, 0)
}

func (n *nemesis) start() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), n.env...)
	if err := cmd.Start(); err != nil {
		n.t.Error(err)
		return
	}
	n.all = append(n.all, cmd)
}

// during begins an attack. stop ends it, and all processes.
func (n *nemesis) during(attack func(over <-chan struct{})) (stop func()) {
	over := make(chan struct{})
	var attacks sync.WaitGroup
	attacks.Go(func() { attack(over) })
	return sync.OnceFunc(func() {
		close(over)
		attacks.Wait()
		n.end()
	})
}

// untilDone waits until so many messages are done.
func (n *nemesis) untilDone(v *victims, want int) {
	n.t.Helper()
	var c outbox.Counts
	defer func() {
		if n.t.Failed() {
			n.t.Logf("%+v", c)
		}
	}()
	dbtest.UntilWithin(n.t, 5*time.Minute, "all are handled", func() bool {
		now, err := v.o.Count(n.t.Context())
		if err == nil {
			c = now
		}
		return c.Done == int64(want)
	})
}

// mostKills bounds an attack: where starting a process takes longer than its life nothing is ever
// handled, which says nothing about the order.
const mostKills = 100

// attack pauses one process after the other, and kills others meanwhile.
func (n *nemesis) attack(over <-chan struct{}) {
	for running := true; running; {
		paused := n.all[rand.IntN(len(n.all))]
		n.stopped[paused.Process.Pid] = true
		_ = paused.Process.Signal(syscall.SIGSTOP)
		for until := time.Now().Add(orderLease + time.Second); running && time.Now().Before(until); {
			select {
			case <-over:
				running = false
			case <-time.After(200 * time.Millisecond):
				if n.kills < mostKills {
					n.killOther(paused)
				}
			}
		}
		_ = paused.Process.Signal(syscall.SIGCONT)
	}
}

// killOther kills a process, but not the one that is paused, and starts another in its place.
func (n *nemesis) killOther(paused *exec.Cmd) {
	i := rand.IntN(len(n.all))
	if n.all[i] == paused {
		return
	}
	n.kill(n.all[i])
	n.note(n.all[i].Process.Pid)
	n.kills++
	n.all = append(n.all[:i], n.all[i+1:]...)
	n.start()
}

// killSome kills processes one after the other, and starts others in their place.
func (n *nemesis) killSome(most int, over <-chan struct{}) {
	for n.kills < most {
		select {
		case <-over:
			return
		case <-time.After(200 * time.Millisecond):
			n.killOther(nil)
		}
	}
}

func (*nemesis) kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// note writes to the log that a process is dead.
func (n *nemesis) note(pid int) {
	log, err := os.OpenFile(n.log, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = fmt.Fprintf(log, "dead %d\n", pid)
		err = errors.Join(err, log.Close())
	}
	if err != nil {
		n.t.Error(err)
	}
}

func (n *nemesis) end() {
	for _, cmd := range n.all {
		n.kill(cmd)
	}
}
