package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// crew is the worker processes of a demo. Whatever happens to this process,
// none of them outlives it for long: they end when their standard input does.
type crew struct {
	environment []string
	args        []string // of the hidden command
	members     []*member
}

// member is one worker process.
type member struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr bytes.Buffer
	ended  chan struct{}
	err    error // valid once ended
	killed bool
}

func newCrew(p *place, args []string) *crew {
	c := &crew{args: args}
	for _, v := range os.Environ() { // the user's options are not the workers'
		if !strings.HasPrefix(v, "PAWL_") || strings.HasPrefix(v, "PAWL_TEST_") {
			c.environment = append(c.environment, v)
		}
	}
	// A password does not belong on a command line, where all can read it.
	c.environment = append(c.environment, "PAWL_DB="+p.DB, "PAWL_SCHEMA="+p.Schema)
	return c
}

// hire starts a worker.
func (c *crew) hire() (*member, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m := &member{cmd: exec.Command(program, c.args...), ended: make(chan struct{})}
	m.cmd.Env = c.environment
	m.cmd.Stderr = &m.stderr
	if m.stdin, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	go func() {
		m.err = m.cmd.Wait()
		close(m.ended)
	}()
	c.members = append(c.members, m)
	return m, nil
}

func (m *member) pid() int { return m.cmd.Process.Pid }

// kill ends a worker with SIGKILL: it can do nothing about it.
func (m *member) kill() error {
	m.killed = true
	if err := m.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill worker %d: %w", m.pid(), err)
	}
	<-m.ended
	return nil
}

// oldest is who was hired first and is still alive.
func (c *crew) oldest() *member {
	return c.members[slices.IndexFunc(c.members, func(m *member) bool { return !m.killed })]
}

// check returns an error if a worker ended that should not have.
func (c *crew) check() error {
	for _, m := range c.members {
		select {
		case <-m.ended:
			if !m.killed {
				return fmt.Errorf("worker %d ended (%v): %s", m.pid(), m.err, strings.TrimSpace(m.stderr.String()))
			}
		default:
		}
	}
	return nil
}

// dismiss lets all workers stop in order and waits for them; who does not end
// within the limit is killed.
func (c *crew) dismiss(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, m := range c.members {
		_ = m.stdin.Close() // that of a killed one is closed already
	}
	for _, m := range c.members {
		select {
		case <-m.ended:
		case <-ctx.Done():
			_ = m.cmd.Process.Kill() // it may have ended this moment
			<-m.ended
		}
	}
}
