//go:build unix

package timer_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/timer"
)

// D-4, D-6, D-71: a scheduler whose connection is cut again and again, after the
// server has done its part and before it hears of it, or at any other point:
// each timer has one message, and it goes on by itself.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	server := dbtest.OpenPostgres(t)
	proxy := proxytest.New(t, testpg.URL(t))
	weak, err := postgres.Open(testpg.With(proxy.URL(testpg.URL(t)), "pool_max_conns=4"), postgres.Options{Schema: strings.TrimSuffix(server.Table(""), ".")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = weak.Close() }()
	quiet := slog.New(slog.DiscardHandler)
	timers := parts.NewTimers(server.DB, parts.NewOutbox(server.DB, worker.Options{}), timer.Options{}, nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		far := parts.NewTimers(weak, parts.NewOutbox(weak, worker.Options{}), timer.Options{}, quiet)
		far.Poll = time.Second
		ended <- far.Run(ctx)
	}()
	p := place{Database: server}
	ids := scheduleMany(t, timers, 2000)
	fired := func() bool {
		var open int
		server.Row(t, "SELECT count(*) FROM "+server.Table("timers")+" WHERE status_code < 2", &open)
		return open == 0
	}
	dbtest.Until(t, "it runs: one that cannot start says so", fired)
	for round := range 4 {
		before := proxy.Cuts()
		proxy.CutAfter("SELECT")
		for id := range scheduleMany(t, timers, 2000) {
			ids[id] = 0
		}
		dbtest.Until(t, "a connection is cut", func() bool { return proxy.Cuts() > before })
		if round%2 == 0 {
			proxy.Cut() // the listener's and all others
		}
		dbtest.Until(t, "all have fired", fired)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	p.deliveredOnce(t, ids)
}
