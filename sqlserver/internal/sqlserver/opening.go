package sqlserver

import (
	"context"
	"net"

	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/gated"
)

// OpenURL opens one of many databases. It is a fleet.Opener.
func OpenURL(o engine.OpenOptions) (engine.DB, error) {
	if err := engine.CheckOption("Connections", o.Connections, 1, 0); err != nil {
		return nil, err
	}
	config, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	db, err := open(&config, o.Gate, o.Library, []Options{{Schema: o.Schema, Prefix: o.Prefix, Logger: o.Logger}})
	if err != nil {
		return nil, err
	}
	if o.Connections > 0 {
		db.sql.SetMaxOpenConns(o.Connections)
	}
	return db, nil
}

// dialer makes connections that enter a gate.
type dialer struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

func newDialer(gate engine.Gate, config *msdsn.Config) dialer {
	var d net.Dialer
	d.KeepAlive = config.KeepAlive
	return dialer{dial: gated.Dial(d.DialContext, gate)}
}

// DialContext makes a connection.
func (d dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return d.dial(ctx, network, addr)
}

// idleConns is database/sql's default.
const idleConns = 2

// CloseIdle closes the idle connections.
func (db *DB) CloseIdle() {
	db.sql.SetMaxIdleConns(0)
	db.sql.SetMaxIdleConns(idleConns)
}
