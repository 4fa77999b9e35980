// Package crew starts the processes of a round, starts them again when they end, and stops
// them.
package crew

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/test/dbproxy"
	"github.com/bravellian/pawl/torture/internal/load"
	"github.com/bravellian/pawl/torture/internal/store"
)

// Options say what a crew consists of.
type Options struct {
	Command []string    // starts a process, which calls load.Main
	Dir     string      // for histories and logs
	Place   store.Place // without a proxy
	Seed    uint64
	Pace    time.Duration
	Flows   bool           // producers begin flows above all
	Roles   map[string]int // how many of each role
	Params  url.Values     // more parameters of the processes' connections
}

// Crew is the processes of a round.
type Crew struct {
	Options
	Slots []*Slot

	ctx context.Context // of Start

	mu       sync.Mutex
	problems []string
	wg       sync.WaitGroup
}

// History is the folder of the histories of a round.
func History(dir string) string { return filepath.Join(dir, "history") }

// Logs is the folder of what processes print.
func Logs(dir string) string { return filepath.Join(dir, "logs") }

// New makes the slots of a crew and, on a server, a proxy for each.
func New(o Options) (*Crew, error) {
	c := &Crew{Options: o}
	for _, dir := range []string{History(o.Dir), Logs(o.Dir)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	for _, role := range []string{load.Worker, load.Producer, load.Claimer, load.Holder} {
		for n := range o.Roles[role] {
			s := &Slot{crew: c, Role: role, Name: fmt.Sprintf("%s-%d", role, n+1)}
			if o.Place.OnServer() {
				p, err := dbproxy.Start(o.Place.URL)
				if err != nil {
					return nil, err
				}
				s.Proxy = p
			}
			c.Slots = append(c.Slots, s)
		}
	}
	return c, nil
}

// Start starts the processes of all slots.
func (c *Crew) Start(ctx context.Context) {
	c.ctx = ctx
	for _, s := range c.Slots {
		s.mu.Lock()
		s.wanted = true
		s.mu.Unlock()
		c.wg.Go(func() { s.keep(ctx) })
	}
}

// Suspend kills all processes and returns when none runs. Resume starts them again.
func (c *Crew) Suspend() {
	for _, s := range c.Slots {
		s.mu.Lock()
		s.wanted = false
		s.mu.Unlock()
		s.Kill()
	}
	c.wg.Wait()
}

// Resume starts processes after Suspend.
func (c *Crew) Resume() { c.Start(c.ctx) }

// Retarget makes all proxies forward to another server.
func (c *Crew) Retarget(url string) error {
	c.Place.URL = url // of processes, it only matters what is not the address
	for _, s := range c.Slots {
		if err := s.Proxy.Retarget(url); err != nil {
			return err
		}
	}
	return nil
}

// Heal continues whatever is stopped, and makes all proxies forward again.
func (c *Crew) Heal() {
	for _, s := range c.Slots {
		s.Continue()
		if s.Proxy != nil {
			s.Proxy.Heal()
		}
	}
}

// StopRole asks the processes of a role to end, and kills those that do not within some
// time, which is a problem of its own.
func (c *Crew) StopRole(role string, patience time.Duration) {
	var wg sync.WaitGroup
	for _, s := range c.Slots {
		if s.Role == role {
			wg.Go(func() { s.stop(patience) })
		}
	}
	wg.Wait()
}

// Close kills what still runs, and ends the proxies.
func (c *Crew) Close() {
	c.Suspend()
	for _, s := range c.Slots {
		if s.Proxy != nil {
			s.Proxy.Stop()
		}
	}
}

// Problems are crashes of processes and stops that took too long.
func (c *Crew) Problems() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.problems...)
}

func (c *Crew) problem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}
