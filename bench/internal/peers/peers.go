// Package peers has other queues on the same databases, each behind one interface,
// so that every scenario of the benchmarks is written once.
package peers

import (
	"context"
	"runtime/debug"
)

// Queue stores messages and hands them to a handler. Messages are numbers: Body
// makes the text that is stored, ID reads the number back.
type Queue interface {
	// Enqueue stores messages in one transaction, by the fastest way that the system's
	// interface has for so many.
	Enqueue(ctx context.Context, ids []int64) error
	// EnqueueTx stores a message in a transaction that it begins and commits itself, as
	// a program does that writes data of its own there.
	EnqueueTx(ctx context.Context, id int64) error
	// Run calls handle for messages until ctx is done, from several goroutines at once.
	// It may be called again after it has returned.
	Run(ctx context.Context, handle func(id int64)) error
	// Settled returns whether the database has nothing left to handle and knows so.
	Settled(ctx context.Context) (bool, error)
	// Close releases connections. The database is deleted by others.
	Close()
}

// Peer is a system with certain settings.
type Peer struct {
	Name     string
	Module   string // of which BuildInfo tells the version; "" for plain SQL
	Settings string // for readers
	// Divisor says how many times fewer messages it gets than pawl, so that a
	// repetition takes about as long.
	Divisor int
	Open    func(ctx context.Context, p Place) (Queue, error)
}

// Version is the version of the peer's module in this program, "" if it has none.
func (p Peer) Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || p.Module == "" {
		return ""
	}
	for _, d := range info.Deps {
		if d.Path == p.Module {
			return d.Version
		}
	}
	return ""
}

// stepNames are those of the steps of messages that have some.
var stepNames = []string{"one", "two", "three"}

// Postgres lists the peers on PostgreSQL.
func Postgres() []Peer {
	return []Peer{
		{"visibility timeout", "", "plain SQL as in pgmq: 500 a claim set a time, handled rows are deleted; polled each 20 ms", 3, openVisibility},
		{"status column", "", "plain SQL: 500 a claim by FOR UPDATE SKIP LOCKED, two updates a message; polled each 20 ms", 6, openStatus},
		{"River", riverModule, "defaults, MaxWorkers 100, InsertMany", 30, openRiverPostgres(riverDefaults)},
		RiverTuned("postgres"),
		{"Watermill", watermillModule, "defaults of v3, payload as JSON", 3, openWatermill(0, 0)},
		{"Watermill tuned", watermillModule, "SubscribeBatchSize 1000, PollInterval 20 ms", 3, openWatermill(1000, pollEvery)},
		{"goqite", goqiteModule, "package jobs, defaults: Limit GOMAXPROCS, PollInterval 100 ms", 1000, openGoqite(0, 0, 0)},
		{"goqite tuned", goqiteModule, "package jobs, Limit 100, PollInterval 20 ms, one connection", 60, openGoqite(100, pollEvery, 1)},
		{"DBOS", dbosModule, "one workflow without steps per message; defaults", 60, openDBOSPostgres(0, 0)},
		{"DBOS tuned", dbosModule, "polling interval 20 ms", 60, openDBOSPostgres(pollEvery, 0)},
	}
}

// SQLite lists the peers on SQLite, all with modernc.org/sqlite.
func SQLite() []Peer {
	return []Peer{
		{"River", riverModule, "defaults, MaxWorkers 100, InsertMany", 60, openRiverSQLite(riverDefaults)},
		RiverTuned("sqlite"),
		{"backlite", backliteModule, "NumWorkers 10, as in its README", 300, openBacklite(10)},
		{"backlite tuned", backliteModule, "NumWorkers 1000", 30, openBacklite(1000)},
		{"goqite", goqiteModule, "package jobs, defaults: Limit GOMAXPROCS, PollInterval 100 ms", 1000, openGoqite(0, 0, 0)},
		{"goqite tuned", goqiteModule, "package jobs, Limit 100, PollInterval 20 ms", 60, openGoqite(100, pollEvery, 0)},
		{"DBOS tuned", dbosModule, "one workflow without steps per message; polling interval 20 ms", 120, openDBOSSQLite(pollEvery, 0)},
	}
}
