package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bravellian/pawl/internal/test/dbproxy"
)

// Scenario delay: A, C and G with a server that is further away. Every round trip takes so much longer, in a proxy whose
// processor time counts as the client's.

func delays(n int) []scenario {
	build := func(title string, count int, measure func(queueOpener) measurement) scenario {
		s := scenario{"delay", "postgres", title + ", every round trip longer", nil, nil}
		for _, q := range mainQueues("postgres") {
			for _, d := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
				s.systems = append(s.systems, system{fmt.Sprintf("%s: %v", q.name, d), shareOf(count, q.divisor), delayed(d, measure(q.open))})
			}
		}
		return s
	}
	return []scenario{
		build("A: batches of 100, then handled", n, cycleQueue),
		build("C: one message a transaction", n/8, singleQueue),
		build("G: 40 messages a second, to an idle worker", 2*perSecond*seconds, pickup),
	}
}

// delayed measures through a proxy that makes each round trip take so much longer.
func delayed(d time.Duration, m measurement) measurement {
	return func(ctx context.Context, r *run) error {
		proxy, err := dbproxy.Start(r.server.url)
		if err != nil {
			return err
		}
		defer proxy.Stop()
		proxy.Delay(d)
		behind := *r.server
		behind.url = proxy.URL(r.server.url)
		r.server = &behind
		return m(ctx, r)
	}
}
