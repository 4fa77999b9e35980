package fleet

import (
	"errors"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
)

// server is what stores of the same host have in common. One that accepts connections and never
// answers would otherwise take a connection for each of its databases, for as long as a
// connection may take to be made: a fleet of 20 000 stores stood still when a server with 2 000 of
// them fell silent.
type server struct {
	mu      sync.Mutex
	slow    int  // polls in a row that took longer than slowPoll, of any of the stores
	probing bool // one of them asks whether it answers again
	silent  bool // the last probe had no answer
}

// errServerSilent is why a store was not polled.
var errServerSilent = errors.New("the server does not answer on other connections either")

// serverOfLocked returns the server of a database, the same one for all on a host; nil for a file.
func (r *registry) serverOfLocked(d Database) *server {
	if d.isFile() {
		return nil
	}
	hosts := dsn.Hosts(d.URL)
	if hosts == "" { // on a socket, or named elsewhere in the URL
		return &server{}
	}
	v := r.servers[hosts]
	if v == nil {
		v = &server{}
		r.servers[hosts] = v
	}
	return v
}

// admission says whether and how a store of a server is polled.
type admission struct {
	ok     bool
	probe  bool // its end shows whether the server answers again
	silent bool // not ok: the last probe had no answer
}

// admit decides on a poll: all are made as long as the server answers, then one at a time.
func (v *server) admit() admission {
	if v == nil {
		return admission{ok: true}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.slow < maxSlowPolls:
		return admission{ok: true}
	case v.probing:
		return admission{silent: v.silent}
	}
	v.probing = true
	return admission{ok: true, probe: true}
}

// markSlow records a poll that takes long, though it has a connection or makes one.
func (v *server) markSlow() {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.slow++
}

// polled records the end of a poll, and whether the server answered: also by an error at once, as
// when it refuses connections. silent: it had a connection, and no answer.
func (v *server) polled(a admission, answered, silent bool) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if answered {
		v.slow, v.silent = 0, false
	}
	if a.probe {
		v.probing, v.silent = false, silent
	}
}

// putOff schedules the poll of a store whose server does not answer.
func (f *Fleet) putOff(s *Store, silent bool) {
	if silent { // a slow machine is no reason to say that a store fails
		f.giveBack(s, s.markFailed(errServerSilent))
		return
	}
	f.giveBack(s, engine.Jitter(time.Second, 0.5))
}
