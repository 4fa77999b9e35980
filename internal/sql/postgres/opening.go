package postgres

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/engine"
)

// idleCheck is how often the pools of many databases check for connections that have been
// idle for long.
const idleCheck = 30 * time.Second

// OpenURL opens one of many databases. It is an engine.Opener.
func OpenURL(o engine.OpenOptions) (engine.DB, error) {
	if err := engine.CheckOption("Connections", o.Connections, 1, 0); err != nil {
		return nil, err
	}
	config, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	config.MinConns = 0
	config.HealthCheckPeriod = idleCheck
	if o.Connections > 0 {
		config.MaxConns = int32(o.Connections)
	}
	if o.Gate != nil {
		config.ConnConfig.DialFunc = gated(config.ConnConfig.DialFunc, o.Gate)
	}
	return open(config, []Options{{Schema: o.Schema, Prefix: o.Prefix, Logger: o.Logger}})
}

// gated makes every connection enter the gate, and leave it when it is closed.
func gated(dial pgconn.DialFunc, gate engine.Gate) pgconn.DialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if err := gate.Enter(ctx); err != nil {
			return nil, err
		}
		conn, err := dial(ctx, network, addr)
		if err != nil {
			gate.Leave()
			return nil, err
		}
		return &gatedConn{Conn: conn, leave: sync.OnceFunc(gate.Leave)}, nil
	}
}

type gatedConn struct {
	net.Conn
	leave func()
}

// Close closes the connection and leaves the gate.
func (c *gatedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseIdle closes the idle connections.
func (db *DB) CloseIdle() { db.pool.Reset() }
