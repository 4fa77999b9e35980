package postgres

import (
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/gated"
)

// idleCheck is how often the pools of many databases check for connections that have been
// idle for long.
const idleCheck = 30 * time.Second

// dialLimit is how long a connection to one of many databases may take to be made, if the URL does not
// say. pgx goes on with it for two minutes after its caller gave up; so a server that accepts connections and never
// answers would hold all that its program may have.
const dialLimit = 5 * time.Second

// OpenURL opens one of many databases. It is a fleet.Opener.
func OpenURL(o engine.OpenOptions) (engine.DB, error) {
	if err := engine.CheckOption("Connections", o.Connections, 1, 0); err != nil {
		return nil, err
	}
	config, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	config.MinConns = 0
	if o.Connections == 0 {
		config = sized(config, o.URL)
	}
	config.HealthCheckPeriod = idleCheck
	if o.Connections > 0 {
		config.MaxConns = int32(o.Connections)
	}
	if config.ConnConfig.ConnectTimeout <= 0 {
		config.ConnConfig.ConnectTimeout = dialLimit
	}
	if o.Gate != nil {
		config.ConnConfig.DialFunc = gated.Dial(config.ConnConfig.DialFunc, o.Gate)
	}
	return open(config, o.Library, []Options{{Schema: o.Schema, Prefix: o.Prefix, Logger: o.Logger}})
}

// CloseIdle closes the idle connections.
func (db *DB) CloseIdle() { db.pool.Reset() }
