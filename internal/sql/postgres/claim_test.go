package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// OBX-119: claims and acks find their rows through indexes, also on tables
// about which the planner knows nothing, or the wrong thing.
func TestClaimAndAckNeverScanTables(t *testing.T) {
	p := place("application_name=never_scan")(t)
	p.Take = nil // a schema of its own: who emptied one that is used again scanned it, and may report that late
	db := enginetest.Migrated(t, p)
	for _, table := range []string{"outbox_ready", "outbox_claim", "outbox_message", "outbox_done"} {
		enginetest.Exec(t, p, `ALTER TABLE pawl.`+table+` SET (autovacuum_enabled = off)`)
	}
	scans := func() (n int64) {
		return enginetest.Number(t, p, `SELECT sum(seq_scan) FROM pg_stat_all_tables WHERE schemaname = $1 AND relname IN ('outbox_ready', 'outbox_claim', 'outbox_message', 'outbox_done')`, p.Names.Schema)
	}
	live := func() {
		for i := range 30 {
			for range 5 {
				enginetest.Put(t, db, 1+i%4)
			}
			owner := enginetest.Token()
			ids := enginetest.Take(t, db, owner, 7)
			for k, id := range ids {
				if k%2 == 0 || i%2 == 0 {
					enginetest.Do(t, db, enginetest.Ack(owner, enginetest.Span{Lo: id, N: 1}))
				}
			}
			enginetest.Do(t, db, enginetest.Extend(owner, time.Hour, enginetest.Span{Lo: ids[0], N: 50}))
			enginetest.Do(t, db, enginetest.Release(owner, 0, enginetest.Span{Lo: ids[0], N: 2}))
		}
	}
	flush(t, p, db)
	before := scans()
	live()
	flush(t, p, db)
	if n := scans() - before; n != 0 {
		t.Errorf("%d sequential scans on tables without statistics", n)
	}
	for _, table := range []string{"outbox_ready", "outbox_claim"} {
		enginetest.Exec(t, p, `ANALYZE pawl.`+table) // they are small now: a scan looks cheap
	}
	flush(t, p, db)
	before = scans()
	live()
	flush(t, p, db)
	if n := scans() - before; n != 0 {
		t.Errorf("%d sequential scans on analysed tables", n)
	}
	admin(t, p.Names.Render(`SELECT count(*) FROM pawl.outbox_ready`))
	enginetest.Until(t, "this test can see scans", func() bool { return scans() > before })
}

// flush makes the sessions of a handle report what they did, as sessions do
// when they end.
func flush(t testing.TB, p *enginetest.Place, db engine.DB) {
	t.Helper()
	db.(*postgres.DB).Pool().Reset()
	enginetest.Until(t, "the sessions are gone", func() bool {
		return enginetest.Number(t, p, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'never_scan'`) == 0
	})
}

// D-861: a claim that brings all there is reads no entry twice, and joins neighbors.
func TestShortClaimReadsOnce(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	for range 3 {
		enginetest.Put(t, db, 1)
	}
	read := enginetest.Number(t, p, `SELECT r.length FROM pawl.outbox_claim_ranges($1, $2, '1 min', 64, 65, '{-infinity}', ARRAY[NULL::timestamptz], NULL, NULL) r WHERE r.id IS NULL`,
		enginetest.Queue, uuid.UUID(enginetest.Token()))
	if read != 3 {
		t.Errorf("a claim of 3 messages read %d entries", read)
	}
	if runs := enginetest.Number(t, p, `SELECT count(*) FROM pawl.outbox_claim`); runs != 1 {
		t.Errorf("neighbors are claimed as %d runs", runs)
	}
}

// OBX-013, OBX-017, D-21: what is below the mark of the last claim, due in the past, released
// or committed late, is claimed by a program's next claim, and first; by the next claim of a
// worker loop that is not full.
func TestClaimsSeeWhatLiesBelowTheMark(t *testing.T) {
	for name, put := range belowTheMark() {
		for _, loops := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, loops %v", name, loops), func(t *testing.T) {
				p := place()(t)
				db := enginetest.Migrated(t, p)
				claim := func(n int) (ids []int64) {
					t.Helper()
					var got []enginetest.Message
					ask := enginetest.ClaimAny
					if loops {
						ask = enginetest.Claim
					}
					enginetest.Do(t, db, ask(enginetest.Token(), enginetest.Lease, n, &got))
					for _, m := range got {
						ids = append(ids, m.ID)
					}
					return ids
				}
				enginetest.Put(t, db, 4)
				if got := claim(4); len(got) != 4 {
					t.Fatalf("claimed %v of 4", got)
				}
				old := put(t, p, db)
				want := append(old, enginetest.Put(t, db, 2)...)
				if !loops {
					if got := claim(1); len(got) != 1 || got[0] != old[0] {
						t.Fatalf("claimed %v, want the oldest of %v", got, want)
					}
					want = want[1:]
				}
				got := claim(100)
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("claimed %v, want %v", got, want)
				}
				enginetest.CheckPlaces(t, p)
			})
		}
	}
}

// belowTheMark are the ways in which three messages come to lie far below the mark
// of a claim of new ones.
func belowTheMark() map[string]func(t *testing.T, p *enginetest.Place, db engine.DB) []int64 {
	return map[string]func(t *testing.T, p *enginetest.Place, db engine.DB) []int64{
		"past due": func(t *testing.T, p *enginetest.Place, db engine.DB) []int64 {
			lo, err := db.ReserveIDs(t.Context(), nil, 3)
			enginetest.Must(t, err)
			past := time.Now().Add(-time.Hour)
			c := enginetest.Enqueue(enginetest.IDs(lo, 3), nil, func(o *op.OutboxEnqueue) { o.Runs[0].At = &past })
			enginetest.Do(t, db, c)
			return enginetest.IDs(lo, 3)
		},
		"released": func(t *testing.T, p *enginetest.Place, db engine.DB) []int64 {
			owner := enginetest.Token()
			ids := enginetest.Put(t, db, 3)
			enginetest.Take(t, db, owner, 3)
			enginetest.Exec(t, p, `UPDATE pawl.outbox_claim SET at = at - interval '1 hour' WHERE lo = $1`, ids[0])
			enginetest.Do(t, db, enginetest.Release(owner, 0, enginetest.Span{Lo: ids[0], N: 3}))
			return ids
		},
		"committed late": func(t *testing.T, p *enginetest.Place, db engine.DB) []int64 {
			ids := enginetest.Put(t, db, 3)
			enginetest.Exec(t, p, `UPDATE pawl.outbox_ready SET at = at - interval '1 hour' WHERE lo = $1`, ids[0])
			return ids
		},
	}
}

// D-21: the order of messages that one call enqueued or redrove, and of the rows of a claim,
// is set by the statements and does not depend on the plan.
func TestOrderWhateverThePlan(t *testing.T) {
	for _, off := range [][]string{
		{"nestloop"}, {"nestloop", "hashjoin"}, {"nestloop", "mergejoin"}, {"hashagg", "indexscan"}, {"material", "sort"}, {"indexscan", "bitmapscan", "nestloop", "hashjoin"},
	} {
		t.Run(strings.Join(off, " and "), func(t *testing.T) {
			t.Parallel()
			var params []string
			for _, what := range off {
				params = append(params, "enable_"+what+"=off")
			}
			p := place(params...)(t)
			db := enginetest.Migrated(t, p)
			lo, err := db.ReserveIDs(t.Context(), nil, 100)
			enginetest.Must(t, err)
			ids := every(enginetest.IDs(lo, 100), 0) // no neighbours: each is a run of its own
			msgs := make([]enginetest.Once, len(ids))
			for i, id := range ids {
				msgs[i] = enginetest.Once{ID: id, MessageID: enginetest.Token(), Supplied: true, Position: rand.Int64N(1 << 40)}
			}
			enginetest.Do(t, db, enginetest.EnqueueOnce(msgs...))
			inOrder := func(what string) {
				t.Helper()
				var got []int64
				owner := enginetest.Token()
				for len(got) < len(ids) {
					var some []enginetest.Message // as they come; Take sorts
					enginetest.Do(t, db, enginetest.Claim(owner, enginetest.Lease, 20, &some))
					for _, m := range some {
						got = append(got, m.ID)
					}
				}
				if !slices.Equal(got, ids) {
					t.Errorf("%s: claimed %v", what, got)
				}
				for _, id := range slices.Backward(ids) { // so that they lie in another order
					enginetest.Do(t, db, enginetest.Fail(owner, "no", enginetest.Span{Lo: id, N: 1}))
				}
			}
			inOrder("enqueued")
			enginetest.Do(t, db, enginetest.Redrive(nil))
			inOrder("redriven")
			for i := range 4 { // every second one goes back, and then the others: many runs of one age
				enginetest.Do(t, db, enginetest.Redrive(nil))
				enginetest.Exec(t, p, `UPDATE pawl.outbox_ready SET at = (SELECT min(at) FROM pawl.outbox_ready)`)
				owner := enginetest.Token()
				enginetest.Take(t, db, owner, 50)
				for _, id := range append(every(ids, i%2), every(ids, 1-i%2)...) {
					enginetest.Do(t, db, enginetest.Release(owner, 0, enginetest.Span{Lo: id, N: 1}))
				}
				inOrder("released")
			}
		})
	}
}

// every returns every second id.
func every(ids []int64, from int) (some []int64) {
	for i := from; i < len(ids); i += 2 {
		some = append(some, ids[i])
	}
	return some
}

// D-13, D-23, OBX-098: two sessions that settle overlapping parts of one claim share it
// exactly, whichever waits for the other and whatever each does.
func TestOverlappingSettlesShareOutTheClaim(t *testing.T) {
	p := place()(t)
	db := enginetest.Migrated(t, p)
	routines := map[string]string{
		"ack":     `SELECT pawl.outbox_ack_runs(ARRAY[$1]::uuid[], ARRAY[$2]::bigint[], ARRAY[$3]::integer[], 'x')`,
		"abandon": `SELECT pawl.outbox_abandon_runs(ARRAY[$1]::uuid[], ARRAY[$2]::bigint[], ARRAY[$3]::integer[], ARRAY[NULL]::interval[], ARRAY['x'])`,
		"fail":    `SELECT pawl.outbox_fail_runs(ARRAY[$1]::uuid[], ARRAY[$2]::bigint[], ARRAY[$3]::integer[], ARRAY['x'])`,
		"release": `SELECT pawl.outbox_release_runs(ARRAY[$1]::uuid[], ARRAY[$2]::bigint[], ARRAY[$3]::integer[], ARRAY['0']::interval[], ARRAY[false])`,
	}
	spans := []enginetest.Span{{Lo: 0, N: 6}, {Lo: 2, N: 5}, {Lo: 4, N: 6}, {Lo: 0, N: 10}, {Lo: 3, N: 1}}
	call := func(tx *sql.Tx, routine string, owner [16]byte, s enginetest.Span) (n int64, err error) {
		err = tx.QueryRowContext(context.Background(), p.Names.Render(routines[routine]), fmt.Sprintf("%x", owner), s.Lo, s.N).Scan(&n)
		return n, err
	}
	for _, pair := range [][2]string{{"ack", "ack"}, {"ack", "abandon"}, {"fail", "ack"}, {"release", "fail"}, {"abandon", "release"}} {
		for i, a := range spans {
			b := spans[(i+2)%len(spans)]
			for _, commit := range []bool{true, false} {
				owner := enginetest.Token()
				ids := enginetest.Put(t, db, 10)
				enginetest.Take(t, db, owner, 10)
				a, b := enginetest.Span{Lo: ids[0] + a.Lo, N: a.N}, enginetest.Span{Lo: ids[0] + b.Lo, N: b.N}
				first, err := p.SQL.BeginTx(t.Context(), nil)
				enginetest.Must(t, err)
				second, err := p.SQL.BeginTx(t.Context(), nil)
				enginetest.Must(t, err)
				nA, err := call(first, pair[0], owner, a)
				enginetest.Must(t, err)
				type result struct {
					n   int64
					err error
				}
				done := make(chan result, 1)
				go func() { n, err := call(second, pair[1], owner, b); done <- result{n, err} }()
				waitForLock(t, p, 1)
				if commit {
					enginetest.Must(t, first.Commit())
				} else {
					enginetest.Must(t, first.Rollback())
					nA = 0
				}
				r := <-done
				enginetest.Must(t, r.err)
				enginetest.Must(t, second.Commit())
				if want := union(a, b, commit); nA+r.n != want {
					t.Errorf("%s %v then %s %v (commit %v): touched %d and %d, want %d in all", pair[0], a, pair[1], b, commit, nA, r.n, want)
				}
				rest := enginetest.Fail(owner, "rest", enginetest.Span{Lo: ids[0], N: 10})
				enginetest.Do(t, db, rest)
				if nA+r.n+rest.N != 10 {
					t.Errorf("%s and %s: %d, %d and %d of 10", pair[0], pair[1], nA, r.n, rest.N)
				}
				enginetest.Exec(t, p, `DELETE FROM pawl.outbox_ready`)
				enginetest.Exec(t, p, `DELETE FROM pawl.outbox_message WHERE id BETWEEN $1 AND $2 AND NOT EXISTS (SELECT 1 FROM pawl.outbox_done d WHERE d.lo <= id AND id < d.lo + d.n) AND NOT EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = outbox_message.id AND e.status = 3)`, ids[0], ids[9])
			}
		}
	}
	enginetest.CheckPlaces(t, p)
}

// union is how many ids two spans cover, or the second alone.
func union(a, b enginetest.Span, both bool) int64 {
	if !both {
		return b.N
	}
	lap := min(a.Lo+a.N, b.Lo+b.N) - max(a.Lo, b.Lo)
	return a.N + b.N - max(lap, 0)
}

// OBX-017, OBX-098, OBX-101: a claim neither waits for what another claim holds,
// nor takes it, nor loses it when that one is rolled back.
func TestClaimSkipsWhatAnotherClaimHolds(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	db := p.Open(t, enginetest.Options{StatementTimeout: time.Minute})
	var ids []int64
	for range 6 {
		ids = append(ids, enginetest.Put(t, db, 2)...)
	}
	other, err := p.SQL.BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer other.Rollback()
	var n int
	enginetest.Must(t, other.QueryRow(p.Names.Render(`SELECT count(*) FROM pawl.outbox_claim_queue('default', gen_random_uuid(), '1 hour', 5, 3, '-infinity')`)).Scan(&n))
	if n != 5 {
		t.Fatalf("the other claimed %d of 5", n)
	}
	got := enginetest.Take(t, db, enginetest.Token(), 100) // the sixth lies in a run that is held
	if fmt.Sprint(got) != fmt.Sprint(ids[6:]) {
		t.Errorf("claimed %v, want %v", got, ids[6:])
	}
	enginetest.Must(t, other.Rollback())
	got = enginetest.Take(t, db, enginetest.Token(), 100)
	if fmt.Sprint(got) != fmt.Sprint(ids[:6]) {
		t.Errorf("then claimed %v, want %v", got, ids[:6])
	}
	enginetest.CheckPlaces(t, p)
}
