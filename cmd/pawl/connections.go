package main

import (
	"net"
	"net/http"
	"sync"
)

// maxConnections bounds the connections of a server, below the number of files that a process may
// usually have open (1 024): a worker needs some for its database and its commands.
const maxConnections = 128

// connections bounds how many connections a server has. Beyond that it closes the one that has been
// without a request for longest or, if all have one, the one whose request is the oldest: whoever
// keeps connections open keeps nobody else out. It is safe for concurrent use.
type connections struct {
	mu   sync.Mutex
	all  map[net.Conn]connection
	turn uint64
}

// connection is what a connection does, and since which turn.
type connection struct {
	busy  bool
	since uint64
}

func newConnections() *connections { return &connections{all: map[net.Conn]connection{}} }

// changed follows the state of a connection: http.Server.ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(c.all, conn)
		return
	}
	_, known := c.all[conn]
	if !known && state != http.StateNew {
		return // it was closed for another, and its goroutine goes on for a moment
	}
	if !known && len(c.all) >= maxConnections {
		oldest := c.oldest()
		delete(c.all, oldest)
		_ = oldest.Close()
	}
	c.turn++
	c.all[conn] = connection{state == http.StateActive, c.turn}
}

// oldest is the connection to close.
func (c *connections) oldest() (found net.Conn) {
	for conn, one := range c.all {
		if best := c.all[found]; found == nil || one.busy != best.busy && best.busy || one.busy == best.busy && one.since < best.since {
			found = conn
		}
	}
	return found
}
