package interleave_test

import (
	"errors"
	"testing"

	. "github.com/bravellian/pawl/internal/test/interleave"
)

// counter is a machine whose sessions add one to a number: each reads it, and then writes what it
// read and one more. With a lock, one waits from the other's read to its write.
type counter struct {
	sessions int
	lock     bool
	number   int
	read     []int
	at       []int
	runs     map[string]int
	path     string
}

func (c *counter) Start() error {
	c.number, c.read, c.at, c.path = 0, make([]int, c.sessions), make([]int, c.sessions), ""
	return nil
}

func (c *counter) Runnable() (list []int) {
	for i, at := range c.at {
		if at < 2 && !(c.lock && c.taken(i)) {
			list = append(list, i)
		}
	}
	return list
}

// taken reports whether another session is between its read and its write.
func (c *counter) taken(i int) bool {
	for k, at := range c.at {
		if k != i && at == 1 {
			return true
		}
	}
	return false
}

func (c *counter) Advance(i int) error {
	c.path += string(rune('A' + i))
	if c.at[i]++; c.at[i] == 1 {
		c.read[i] = c.number
	} else {
		c.number = c.read[i] + 1
	}
	return nil
}

var errLost = errors.New("an update is lost")

func (c *counter) Finish() error {
	if c.runs != nil {
		c.runs[c.path]++
		return nil
	}
	if c.number != c.sessions {
		return errLost
	}
	return nil
}

// D-276: all schedules are run, each of those with few preemptions first, and a random part of
// more than asked for; a fault is found and found again.
func TestExplore(t *testing.T) {
	for _, tt := range []struct {
		name     string
		c        counter
		o        Options
		want     int
		complete bool
	}{
		{"two sessions", counter{sessions: 2}, Options{Most: 100, Systematic: 100, Preemptions: 5}, 6, true},
		{"three sessions", counter{sessions: 3}, Options{Most: 100, Systematic: 100, Preemptions: 5}, 90, true},
		{"one after the other", counter{sessions: 3}, Options{Most: 6, Systematic: 6}, 6, false},
		{"one preemption", counter{sessions: 2}, Options{Most: 4, Systematic: 4, Preemptions: 1}, 4, false},
		{"a part", counter{sessions: 3}, Options{Most: 30, Systematic: 10, Preemptions: 1, Seed: 1}, 30, false},
		{"with a lock", counter{sessions: 3, lock: true}, Options{Most: 100, Systematic: 100, Preemptions: 5}, 6, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.runs = map[string]int{}
			r, err := Explore(&tt.c, tt.o)
			if err != nil || r.Schedules != tt.want || len(tt.c.runs) != tt.want || r.Complete != tt.complete {
				t.Errorf("%+v, %v, %d different; want %d, complete: %t", r, err, len(tt.c.runs), tt.want, tt.complete)
			}
		})
	}
}

func TestExploreFindsALostUpdate(t *testing.T) {
	var f *Failure
	if _, err := Explore(&counter{sessions: 2}, Options{Most: 2, Systematic: 2}); err != nil {
		t.Errorf("one after the other: %v", err)
	}
	c := &counter{sessions: 2}
	if _, err := Explore(c, Options{Most: 10, Systematic: 10, Preemptions: 1}); !errors.As(err, &f) || !errors.Is(err, errLost) {
		t.Fatalf("with one preemption: %v", err)
	}
	if err := Replay(c, f.Schedule); !errors.Is(err, errLost) {
		t.Errorf("again: %v", err)
	}
	if err := Replay(c, "AABB"); err != nil {
		t.Errorf("a schedule without a fault: %v", err)
	}
	locked := &counter{sessions: 3, lock: true}
	if r, err := Explore(locked, Options{Most: 100, Systematic: 100, Preemptions: 5}); err != nil || !r.Complete {
		t.Errorf("with a lock: %+v, %v", r, err)
	}
}
