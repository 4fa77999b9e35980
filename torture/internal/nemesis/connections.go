package nemesis

import (
	"context"
	"time"

	"github.com/bravellian/pawl/internal/test/dbproxy"
)

// connectionFaults are made by the proxies: each harms the connections of one process.
func connectionFaults() []Fault {
	once := func(name string, do func(p *dbproxy.Proxy)) Fault {
		return Fault{Name: name, Engines: OnServers, Track: Connections, Do: func(_ context.Context, w *World, s Step) error {
			do(w.slot(s).Proxy)
			return nil
		}}
	}
	lasting := func(name string, do func(p *dbproxy.Proxy)) Fault {
		return Fault{Name: name, Engines: OnServers, Track: Connections, Low: 300 * time.Millisecond, High: 4 * time.Second,
			Do: func(ctx context.Context, w *World, s Step) error {
				p := w.slot(s).Proxy
				do(p)
				defer p.Heal()
				wait(ctx, s.Hold)
				return nil
			}}
	}
	return []Fault{
		once("cut", (*dbproxy.Proxy).Cut),
		once("cut-before-commit", (*dbproxy.Proxy).CutBefore),
		once("cut-after-commit", func(p *dbproxy.Proxy) { p.CutAfter("COMMIT") }),
		once("cut-after-select", func(p *dbproxy.Proxy) { p.CutAfter("SELECT") }),
		once("truncate", (*dbproxy.Proxy).Truncate),
		lasting("delay", func(p *dbproxy.Proxy) { p.Delay(100 * time.Millisecond) }),
		lasting("black-hole", (*dbproxy.Proxy).Silence),
		lasting("black-hole-open", (*dbproxy.Proxy).SilenceOpen),
		lasting("partition", func(p *dbproxy.Proxy) { p.Refuse(true); p.Cut() }),
	}
}
