package main

import (
	"context"
	"slices"

	"github.com/bravellian/pawl/bench/internal/peers"
)

// Scenario E: B for longer, beside a transaction that keeps its snapshot, as a backup or a
// report does. Vacuum can remove nothing meanwhile.

// longer is how many times as many messages as in B.
const longer = 20

func heldSnapshots(n int) []scenario {
	const title = "as B, 20 times as long, beside a REPEATABLE READ transaction that stays open"
	systems := withAndWithout("pawl", longer*n, pawlPostgres)
	for _, p := range heldPeers() {
		systems = append(systems, withAndWithout(p.Name, longer*n/max(p.Divisor, 2), openPeer(p))...)
	}
	return []scenario{{"E", "postgres", title, nil, systems}}
}

// heldPeers are those that are measured beside a snapshot.
func heldPeers() []peers.Peer {
	return slices.DeleteFunc(peers.Postgres(), func(p peers.Peer) bool { return p.Name != "River tuned" && p.Name != "status column" })
}

// withAndWithout is a system beside such a transaction, and its control run.
func withAndWithout(name string, n int, open queueOpener) []system {
	n -= n % batchSize
	return []system{{name + " beside it", n, beforeSnapshot(steadyQueue(open))}, {name + " alone", n, steadyQueue(open)}}
}

// beforeSnapshot measures while a snapshot from before is held.
func beforeSnapshot(m measurement) measurement {
	return func(ctx context.Context, r *run) error {
		pool, err := r.server.pool(ctx, 1)
		if err != nil {
			return err
		}
		defer pool.Close()
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		if _, err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"); err != nil {
			return err
		}
		defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), "ROLLBACK") }()
		return m(ctx, r)
	}
}
