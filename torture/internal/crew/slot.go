package crew

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/bravellian/pawl/internal/test/dbproxy"
	"github.com/bravellian/pawl/torture/internal/load"
)

// Slot is a process that is started again when it ends, under another name.
type Slot struct {
	Role  string
	Name  string
	Proxy *dbproxy.Proxy // nil on SQLite
	crew  *Crew

	mu      sync.Mutex
	process *os.Process // nil while none runs
	starts  int
	wanted  bool
	stopped bool // by Pause
	done    chan struct{}
}

// restartAfter is how long a slot stays empty.
const restartAfter = 100 * time.Millisecond

// errUnwanted is returned when the slot is to stay empty.
var errUnwanted = errors.New("no process is wanted")

// keep starts processes until none is wanted.
func (s *Slot) keep(ctx context.Context) {
	for s.isWanted() && ctx.Err() == nil {
		cmd, stdin, err := s.start()
		if errors.Is(err, errUnwanted) {
			return
		}
		if err != nil {
			s.crew.problem("%s: %v", s.Name, err)
			return
		}
		_ = cmd.Wait() // what the exit says is read below
		_ = stdin.Close()
		s.ended(cmd.ProcessState)
		select {
		case <-ctx.Done():
		case <-time.After(restartAfter):
		}
	}
}

func (s *Slot) isWanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted
}

func (s *Slot) log(name string) string { return filepath.Join(Logs(s.crew.Dir), name+".log") }

func (s *Slot) start() (*exec.Cmd, *os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.wanted {
		return nil, nil, errUnwanted
	}
	s.starts++
	name := s.named()
	c := load.Config{
		Role: s.Role, Process: name, Place: s.crew.Place, History: History(s.crew.Dir), Seed: s.crew.Seed, Pace: s.crew.Pace,
		Claims: s.crew.Roles[load.Claimer] > 0, Flows: s.crew.Flows,
	}
	if s.Proxy != nil {
		c.Place.URL = named(s.Proxy.URL(c.Place.URL), c.Place.Schema, s.crew.Params)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, nil, err
	}
	log, err := os.Create(s.log(name))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	// Not bound to a context: processes are ended by Kill.
	cmd := exec.Command(s.crew.Command[0], s.crew.Command[1:]...) //nolint:noctx // see above
	// SQLite's temporary files stay where a process is killed: they go with the round's folder.
	cmd.Env = append(os.Environ(), load.Variable+"="+string(text), "SQLITE_TMPDIR="+s.crew.Dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, log, log
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	s.process, s.stopped, s.done = cmd.Process, false, make(chan struct{})
	return cmd, w, nil
}

// named adds the name by which the round's connections are known, and other parameters.
func named(server, name string, more url.Values) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	q := u.Query()
	setting := "application_name"
	if u.Scheme == "sqlserver" {
		setting = "app name"
	}
	q.Set(setting, name)
	for k := range more {
		q.Set(k, more.Get(k))
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// ended notes how a process ended. One that crashed by itself is a problem.
func (s *Slot) ended(state *os.ProcessState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.named()
	s.process = nil
	close(s.done)
	status, _ := state.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGTERM): // by us; by the latter before it was ready for it
		return
	case state.ExitCode() == load.ExitOK || state.ExitCode() == load.ExitError:
		return
	}
	text, _ := os.ReadFile(s.log(name)) // it only adorns the problem
	if at := bytes.Index(text, []byte("panic")); at > 0 {
		text = text[at:]
	}
	const enough = 2000
	s.crew.problem("%s crashed: %v: %s", name, state, text[:min(len(text), enough)])
}

func (s *Slot) signal(sig syscall.Signal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process != nil && s.process.Signal(sig) == nil
}

// Kill ends the process as a crash does.
func (s *Slot) Kill() bool { return s.signal(syscall.SIGKILL) }

// Terminate asks the process to end.
func (s *Slot) Terminate() bool { return s.signal(syscall.SIGTERM) }

// Process is the name of the process that runs, or ran last.
func (s *Slot) Process() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.named()
}

func (s *Slot) named() string { return fmt.Sprintf("%s.%d", s.Name, s.starts) }

// Pause stops a process where it is, if it is the one that runs.
func (s *Slot) Pause(process string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = s.process != nil && s.named() == process && s.process.Signal(sigStop) == nil
	return s.stopped
}

// Continue lets a process go on.
func (s *Slot) Continue() {
	s.mu.Lock()
	was := s.stopped
	s.stopped = false
	s.mu.Unlock()
	if was {
		s.signal(sigCont)
	}
}

// stop asks the process to end and not to be started again.
func (s *Slot) stop(patience time.Duration) {
	s.mu.Lock()
	s.wanted = false
	done, running := s.done, s.process != nil
	s.mu.Unlock()
	if !running {
		return
	}
	s.Terminate()
	select {
	case <-done:
	case <-time.After(patience):
		s.crew.problem("%s did not stop within %v of SIGTERM", s.Name, patience)
		s.signal(syscall.SIGQUIT) // its goroutines are in its log
		select {
		case <-done:
		case <-time.After(time.Second):
			s.Kill()
		}
		<-done
	}
}
