package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bravellian/pawl/internal/engine"
)

// gateOf returns what limits and counts the connections of a store.
func gateOf(s *Store) engine.Gate { return (*storeGate)(s) }

// errNoConnection is why a store was not reached for which the fleet had no connection left.
var errNoConnection = errors.New("no connection is left in the fleet's budget")

// storeGate is a store as its engine sees it. It needs no memory of its own.
type storeGate Store

// Enter waits until the fleet allows one more connection.
func (g *storeGate) Enter(ctx context.Context) error {
	c := g.fleet.conns
	if err := c.Enter(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNoConnection, err)
	}
	c.holders.add((*Store)(g), 1)
	return nil
}

// Leave ends what Enter began.
func (g *storeGate) Leave() {
	c := g.fleet.conns
	c.holders.add((*Store)(g), -1)
	c.Leave()
}

// holders are the stores that have connections to servers, with how many: never more stores
// than Options.Connections, however many the fleet has.
type holders struct {
	mu sync.Mutex
	of map[*Store]int
}

func (h *holders) add(s *Store, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[*Store]int{}
	}
	if h.of[s] += n; h.of[s] == 0 {
		delete(h.of, s)
	}
}

// has reports whether a store has a connection.
func (h *holders) has(s *Store) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of[s] > 0
}

func (h *holders) all() []*Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*Store, 0, len(h.of))
	for s := range h.of {
		all = append(all, s)
	}
	return all
}
