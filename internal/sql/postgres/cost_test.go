package postgres_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// walOf runs a statement and returns how many bytes of write-ahead log it wrote. Images of
// pages depend on the last checkpoint; images is true if there were any.
func walOf(t *testing.T, pool *pgxpool.Pool, query string, args ...any) (bytes float64, images bool) {
	t.Helper()
	var text []byte
	enginetest.Must(t, pool.QueryRow(t.Context(), "EXPLAIN (ANALYZE, WAL, TIMING OFF, FORMAT JSON) "+query, args...).Scan(&text))
	var plans []struct{ Plan plan }
	enginetest.Must(t, json.Unmarshal(text, &plans))
	return plans[0].Plan.logged()
}

// plan is a node of a plan with what it logged, its children included, but for the changes of
// CTEs: those that nobody reads run after it.
type plan struct {
	Type   string  `json:"Node Type"`
	Bytes  float64 `json:"WAL Bytes"`
	Images float64 `json:"WAL FPI"`
	Plans  []plan
}

func (p *plan) logged() (bytes float64, images bool) {
	bytes, images = p.Bytes, p.Images > 0
	for i := range p.Plans {
		if p.Plans[i].Type == "ModifyTable" {
			b, im := p.Plans[i].logged()
			bytes, images = bytes+b, images || im
		}
	}
	return bytes, images
}

// wantLogged fails the test unless a statement, run some times, writes about as many bytes of
// write-ahead log for a message as it should. The median counts: a statement that meets dead rows
// of the catalog, in a session that is new to them or after an ANALYZE, logs that it prunes them.
func wantLogged(t *testing.T, pool *pgxpool.Pool, what string, want float64, messages, times int, statement func() (query string, args []any)) {
	t.Helper()
	var runs []float64
	for tries := 0; len(runs) < times && tries < 20*times; tries++ {
		query, args := statement()
		if bytes, images := walOf(t, pool, query, args...); !images {
			runs = append(runs, bytes/float64(messages))
		}
	}
	if len(runs) < times {
		t.Fatalf("%s: %d of %d runs logged no images of pages", what, len(runs), times)
	}
	slices.Sort(runs)
	// Half a byte of a hundred messages is less than the shortest record.
	if got := runs[times/2]; math.Abs(got-want) > max(want/20, 0.5) {
		t.Errorf("%s: %.1f bytes a message, want %.1f ± 5 %% (of %d runs: %.1f)", what, got, want, times, runs)
	}
}

// What a change of a statement or an index adds to the write-ahead log of a message has to be
// wanted: it limits a busy server. Messages have 256 bytes.
func TestWriteAheadLogOfAMessage(t *testing.T) {
	db := dbtest.OpenPostgres(t)
	pg := db.DB.(*postgres.DB)
	payload := make([]byte, 256)
	positions := func(n int) []int64 {
		lo, err := pg.ReserveIDs(t.Context(), nil, n)
		enginetest.Must(t, err)
		return enginetest.IDs(lo, n)
	}
	wantLogged(t, pg.Pool(), "enqueued by the hundred", 445, 100, 20, func() (string, []any) {
		return postgres.StatementOf(pg, enginetest.Enqueue(positions(100), payload).Operation)
	})
	owner := enginetest.Token()
	wantLogged(t, pg.Pool(), "claimed by the hundred", 3, 100, 15, func() (string, []any) {
		return "SELECT * FROM " + db.Table("outbox_claim_queue") + "($1, $2, '1 h', 100, 1, '-infinity')", []any{enginetest.Queue, owner}
	})
	rows, err := pg.Pool().Query(t.Context(), "SELECT lo, n FROM "+db.Table("outbox_claim"))
	enginetest.Must(t, err)
	held, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (h op.Held, err error) {
		h.Owner = owner
		return h, r.Scan(&h.Lo, &h.N)
	})
	enginetest.Must(t, err)
	wantLogged(t, pg.Pool(), "acked by the hundred", 2.2, 100, 10, func() (string, []any) {
		next := held[0]
		held = held[1:]
		return postgres.StatementOf(pg, op.OutboxAck{Runs: []op.Held{next}, Worker: "worker"})
	})
	wantLogged(t, pg.Pool(), "enqueued alone", 678, 1, 200, func() (string, []any) {
		return postgres.StatementOf(pg, enginetest.Enqueue(positions(1), payload).Operation)
	})
}
