// Package gated makes connections that pass a gate.
package gated

import (
	"context"
	"net"
	"sync"

	"github.com/bravellian/pawl/internal/engine"
)

// Dial makes connections as dial does. Every one passes the gate, until it is closed.
func Dial(dial func(ctx context.Context, network, addr string) (net.Conn, error), gate engine.Gate) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if err := gate.Enter(ctx); err != nil {
			return nil, err
		}
		inner, err := dial(ctx, network, addr)
		if err != nil {
			gate.Leave()
			return nil, err
		}
		return &conn{Conn: inner, leave: sync.OnceFunc(gate.Leave)}, nil
	}
}

type conn struct {
	net.Conn
	leave func()
}

// Close closes the connection and makes room for another.
func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
