package nemesis

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/test/pgproxy"
)

// connectionFaults are made by the proxies: each harms the connections of one process.
func connectionFaults() []Fault {
	once := func(name string, do func(p *pgproxy.Proxy)) Fault {
		return Fault{Name: name, Engines: Postgres, Track: Connections, Do: func(_ context.Context, w *World, s Step) error {
			do(w.slot(s).Proxy)
			return nil
		}}
	}
	lasting := func(name string, do func(p *pgproxy.Proxy)) Fault {
		return Fault{Name: name, Engines: Postgres, Track: Connections, Low: 300 * time.Millisecond, High: 4 * time.Second,
			Do: func(ctx context.Context, w *World, s Step) error {
				p := w.slot(s).Proxy
				do(p)
				defer p.Heal()
				wait(ctx, s.Hold)
				return nil
			}}
	}
	return []Fault{
		once("cut", (*pgproxy.Proxy).Cut),
		once("cut-before-commit", (*pgproxy.Proxy).CutBefore),
		once("cut-after-commit", func(p *pgproxy.Proxy) { p.CutAfter("COMMIT") }),
		once("cut-after-select", func(p *pgproxy.Proxy) { p.CutAfter("SELECT") }),
		once("truncate", (*pgproxy.Proxy).Truncate),
		lasting("delay", func(p *pgproxy.Proxy) { p.Delay(100 * time.Millisecond) }),
		lasting("black-hole", (*pgproxy.Proxy).Silence),
		lasting("black-hole-open", (*pgproxy.Proxy).SilenceOpen),
		lasting("partition", func(p *pgproxy.Proxy) { p.Refuse(true); p.Cut() }),
	}
}
