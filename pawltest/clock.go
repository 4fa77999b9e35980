package pawltest

import (
	"sync"
	"testing"
	"time"
)

// Clock is the clock by which the database of a test decides what is due. It is
// safe for concurrent use.
//
// On SQLite it goes with time.Now until the test moves it, so that code which
// computes due times from time.Now needs no change. Code that is to see the moved
// time takes Now.
//
// On a server its clock decides, which a test cannot move: Advance and Set fail the test.
type Clock struct {
	t       testing.TB
	movable bool
	read    func() time.Time

	mu    sync.Mutex
	ahead time.Duration // of time.Now
	still *time.Time    // where it stands; nil: it goes
}

// Now returns the database's time.
func (c *Clock) Now() time.Time { return c.read() }

// now is the clock that a test moves.
func (c *Clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *Clock) nowLocked() time.Time {
	if c.still != nil {
		return *c.still
	}
	return time.Now().Add(c.ahead)
}

// Advance moves the clock on. What has become due thereby is done by the next
// Drain. A recurring job that missed several of its times makes up for them as its
// Misfire says; DB.Pass lets it run at each of them.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	c.check()
	if d < 0 {
		c.t.Fatalf("pawltest: a clock cannot be advanced by %v", d)
	}
	c.move(d)
}

func (c *Clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.still == nil {
		c.ahead += d
		return
	}
	at := c.still.Add(d)
	c.still = &at
}

// Set puts the clock to a time, where it stands still: from then on only Advance
// and Set move it. Due times computed from time.Now mean little to a clock that
// was set; compute them from Now.
func (c *Clock) Set(at time.Time) {
	c.t.Helper()
	c.check()
	at = at.Round(0) // without time.Now's monotonic part, which would win comparisons
	c.mu.Lock()
	defer c.mu.Unlock()
	c.still = &at
}

func (c *Clock) check() {
	c.t.Helper()
	if !c.movable {
		c.t.Fatalf("pawltest: the server's clock decides what is due, and a test cannot move it: use pawltest.New, a SQLite database")
	}
}
