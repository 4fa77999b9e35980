package nemesis

import (
	"context"

	"github.com/bravellian/pawl/internal/test/dbproxy"
)

// Pooler is a pooler between the processes and the server, which hands out connections by
// the transaction, and which can be started again.
type Pooler struct {
	server string
	now    *dbproxy.Pooler
}

// StartPooler starts a pooler for a server.
func StartPooler(server string) (*Pooler, error) {
	p, err := dbproxy.StartPooler(server)
	if err != nil {
		return nil, err
	}
	return &Pooler{server: server, now: p}, nil
}

// URL is where the pooler is.
func (p *Pooler) URL() string { return p.now.URL(p.server) }

// Stop ends the pooler.
func (p *Pooler) Stop() { p.now.Stop() }

// poolerFaults are those of rounds with a pooler.
func poolerFaults() []Fault {
	return []Fault{
		{Name: "pooler-restart", Engines: Postgres, Track: Connections, Pooled: true, Do: func(_ context.Context, w *World, _ Step) error {
			w.Pooler.now.Stop()
			next, err := dbproxy.StartPooler(w.Pooler.server)
			if err != nil {
				return err
			}
			w.Pooler.now = next
			return w.Crew.Retarget(w.Pooler.URL())
		}},
	}
}
