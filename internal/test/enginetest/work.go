package enginetest

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// D-13: a message that is handed over is its worker's from its commit on, for the
// length of its lease, and in a paused queue nobody's.
func claimedAtOnce(t *testing.T, p *Place) {
	db := Migrated(t, p)
	write := func(lease time.Duration) (id int64, owner [16]byte, written bool) {
		t.Helper()
		ids, err := db.ReserveIDs(t.Context(), nil, 1)
		Must(t, err)
		owner = Token()
		var at op.OutboxCreated
		c := engine.One(op.OutboxEnqueueClaimed{
			NewMessage: op.NewMessage{ID: ids, MessageID: Token(), Topic: "topic", Payload: []byte("payload"), Lane: Lane},
			Queue:      Queue, Owner: owner, Lease: lease,
		}, &at)
		Do(t, db, c)
		if c.N > 0 && time.Since(at.CreatedAt).Abs() > time.Hour {
			t.Errorf("written at %v", at.CreatedAt)
		}
		return ids, owner, c.N > 0
	}
	id, owner, written := write(Lease)
	if got := Take(t, db, Token(), 1); !written || len(got) > 0 {
		t.Fatalf("claimed from the start: %v, others claim %v", written, got)
	}
	foreign, own := Ack(Token(), Span{id, 1}), Ack(owner, Span{id, 1})
	Do(t, db, foreign, own)
	if foreign.N != 0 || own.N != 1 {
		t.Errorf("another acked %d, its owner %d", foreign.N, own.N)
	}
	_, _, written = write(-time.Second)
	if back := engine.Ask(op.OutboxReap{Most: 10}); written {
		Do(t, db, back)
		if back.N != 1 {
			t.Errorf("%d came back from an expired lease", back.N)
		}
	}
	Do(t, db, engine.Ask(op.PausePut{Kind: "queue", Name: Queue}))
	if _, _, written := write(Lease); written {
		t.Error("claimed in a paused queue")
	}
	if c := Count(t, db); c.Claimed != 0 || c.Ready != 2 || c.Done != 1 {
		t.Errorf("at the end: %+v", c)
	}
	CheckPlaces(t, p)
}

// D-13, D-23, OBX-027, OBX-030: settling part of a claimed run leaves the rest
// under its lease, whatever part it is and however it is settled.
func parts(t *testing.T, p *Place) {
	db := Migrated(t, p)
	zero := shortDelay
	calls := map[string]func(owner [16]byte, s ...Span) *engine.Call{
		"ack":     Ack,
		"abandon": func(o [16]byte, s ...Span) *engine.Call { return Abandon(o, &zero, "why", s...) },
		"fail":    func(o [16]byte, s ...Span) *engine.Call { return Fail(o, "why", s...) },
		"release": func(o [16]byte, s ...Span) *engine.Call { return Release(o, 0, s...) },
	}
	for name, call := range calls {
		for _, s := range [][]Span{{{0, 1}}, {{9, 1}}, {{4, 2}}, {{0, 10}}, {{1, 3}, {5, 4}}, {{0, 1}, {2, 1}, {4, 1}}} {
			for _, width := range []int64{0, 100} { // also asking for more than is held
				owner := Token()
				ids := Put(t, db, 10)
				Take(t, db, owner, 10)
				asked, n := slices.Clone(s), int64(0)
				for i := range asked {
					asked[i].Lo += ids[0]
					n += asked[i].N
				}
				if last := len(asked) - 1; width > 0 && s[last].Lo+s[last].N == 10 {
					asked[last].N += width
				}
				c := call(owner, asked...)
				Do(t, db, c)
				if c.N != n {
					t.Errorf("%s %v: touched %d, want %d", name, s, c.N, n)
				}
				rest := Ack(owner, Span{ids[0], 10})
				Do(t, db, rest)
				if rest.N != 10-n {
					t.Errorf("%s %v: %d were left, want %d", name, s, rest.N, 10-n)
				}
				tidy := Token()
				for _, id := range Take(t, db, tidy, 100) {
					Do(t, db, Ack(tidy, Span{id, 1}))
				}
			}
		}
	}
	if c := Count(t, db); c.Ready+c.Claimed+c.Scheduled+c.Retrying != 0 {
		t.Errorf("at the end: %+v", c)
	}
	CheckPlaces(t, p)
}

// D-13, D-23, OBX-030, OBX-031, OBX-038, OBX-039, OBX-044, OBX-045: only the
// owner settles; foreign, unknown, doubled and settled ids touch nothing.
func notHeld(t *testing.T, p *Place) {
	db := Migrated(t, p)
	owner, stranger, zero := Token(), Token(), shortDelay
	ids := Put(t, db, 4)
	Take(t, db, owner, 4)
	whole := Span{ids[0], 4}
	unknown := Span{1 << 40, 50}
	for name, c := range map[string]*engine.Call{
		"ack": Ack(stranger, whole), "abandon": Abandon(stranger, &zero, "x", whole), "fail": Fail(stranger, "x", whole),
		"release": Release(stranger, 0, whole), "extend": Extend(stranger, time.Nanosecond, whole),
		"ack part": Ack(stranger, Span{ids[1], 2}), "extend part": Extend(stranger, time.Nanosecond, Span{ids[1], 2}),
		"ack unknown": Ack(owner, unknown), "abandon unknown": Abandon(owner, &zero, "x", unknown), "fail unknown": Fail(owner, "x", unknown),
		"release unknown": Release(owner, 0, unknown), "extend unknown": Extend(owner, time.Nanosecond, unknown),
	} {
		Do(t, db, c)
		if c.N != 0 {
			t.Errorf("%s touched %d", name, c.N)
		}
	}
	if c := Count(t, db); c != (Counts{Claimed: 4}) {
		t.Fatalf("after touching nothing: %+v", c)
	}
	both := Ack(owner, whole, Span{ids[1], 2}) // doubled
	Do(t, db, both)
	again := Fail(owner, "late", whole)
	Do(t, db, again)
	if both.N != 4 || again.N != 0 {
		t.Errorf("acked %d, then failed %d", both.N, again.N)
	}
	CheckPlaces(t, p)
}

// D-3, D-13, OBX-097: through a random life of claims, part settlements and
// reaps every call counts what it touched, and every message has one place.
func randomLife(t *testing.T, p *Place) {
	db := Migrated(t, p)
	rnd := rand.New(rand.NewPCG(1, 2))
	type claim struct {
		owner [16]byte
		ids   []int64
	}
	var claims []claim
	var total int64
	var want Counts
	for range 250 {
		switch rnd.IntN(4) {
		case 0:
			n := 1 + rnd.IntN(40)
			Put(t, db, n)
			total += int64(n)
			want.Ready += int64(n)
		case 1:
			owner := Token()
			n := 1 + rnd.IntN(60)
			ids := Take(t, db, owner, n)
			if int64(len(ids)) != min(want.Ready, int64(n)) {
				t.Fatalf("claimed %d of %d, %d were ready", len(ids), n, want.Ready)
			}
			want.Ready -= int64(len(ids))
			want.Claimed += int64(len(ids))
			claims = append(claims, claim{owner, ids})
		default:
			if len(claims) == 0 {
				continue
			}
			c := &claims[rnd.IntN(len(claims))]
			n := rnd.IntN(len(c.ids) + 1)
			rnd.Shuffle(len(c.ids), func(i, k int) { c.ids[i], c.ids[k] = c.ids[k], c.ids[i] })
			some := slices.Clone(c.ids[:n])
			slices.Sort(some)
			settleSome(t, db, rnd, c.owner, some, &want)
			c.ids = c.ids[n:]
		}
		if got := Count(t, db); got != want || got.Sum() != total {
			t.Fatalf("got %+v, want %+v, in all %d", got, want, total)
		}
	}
	CheckPlaces(t, p)
}

func settleSome(t *testing.T, db engine.DB, rnd *rand.Rand, owner [16]byte, ids []int64, want *Counts) {
	t.Helper()
	if len(ids) == 0 {
		return
	}
	var s []Span
	for _, id := range ids {
		if k := len(s) - 1; k >= 0 && s[k].Lo+s[k].N == id {
			s[k].N++
			continue
		}
		s = append(s, Span{id, 1})
	}
	n, zero := int64(len(ids)), shortDelay
	var c *engine.Call
	to := &want.Ready
	switch rnd.IntN(5) {
	case 0:
		c, to = Ack(owner, s...), &want.Done
	case 1:
		c, to = Fail(owner, "why", s...), &want.Failed
	case 2:
		c = Abandon(owner, &zero, "why", s...)
	case 3:
		c = Release(owner, 0, s...)
	default:
		c, to = Extend(owner, Lease, s...), &want.Claimed
	}
	Do(t, db, c)
	if c.N != n {
		t.Fatalf("%s touched %d of %d", c.Name(), c.N, n)
	}
	want.Claimed -= n
	*to += n
}

// D-12, OBX-049, OBX-050, OBX-051, OBX-052: an expired lease comes back once,
// uncounted, and its former owner has lost it.
func reapOnce(t *testing.T, p *Place) {
	db := Migrated(t, p)
	owner := Token()
	ids := Put(t, db, 6)
	var got []Message
	Do(t, db, Claim(owner, time.Microsecond, 6, &got))
	Do(t, db, Ack(owner, Span{ids[0], 1}), Fail(owner, "x", Span{ids[1], 1}), Extend(owner, Lease, Span{ids[2], 1}))
	var reaped int64
	Until(t, "a lease of a microsecond runs out", func() bool {
		c := Reap()
		Do(t, db, c)
		reaped += c.N
		return reaped >= 3
	})
	if reaped != 3 {
		t.Errorf("reaped %d, want 3", reaped)
	}
	late := Ack(owner, Span{ids[0], 6})
	Do(t, db, late)
	if late.N != 1 {
		t.Errorf("the former owner acked %d, want the extended one", late.N)
	}
	fresh := Put(t, db, 1)
	Do(t, db, Claim(Token(), Lease, 10, &got))
	if len(got) != 1 || got[0].ID != fresh[0] {
		t.Errorf("a loop's claim took %+v, want what is no suspect", got)
	}
	Do(t, db, ClaimAny(Token(), Lease, 10, &got))
	if len(got) != 3 || got[0].RetryCount != 0 {
		t.Errorf("came back: %+v", got)
	}
	if c := Count(t, db); c != (Counts{Claimed: 4, Done: 2, Failed: 1}) {
		t.Errorf("at the end: %+v", c)
	}
}

// D-26: only failed messages are redriven or discarded, those asked for.
func deadOnes(t *testing.T, p *Place) {
	db := Migrated(t, p)
	owner, other := Token(), "other"
	ids := Put(t, db, 6)
	Take(t, db, owner, 6)
	Do(t, db, Fail(owner, "x", Span{ids[0], 4}), Ack(owner, Span{ids[4], 1}))
	topic := Discard(nil, &other)
	some := Redrive([]int64{ids[1], ids[4], ids[5], 1 << 40})
	none := Redrive([]int64{})
	Do(t, db, topic, some, none)
	if topic.N != 0 || some.N != 1 || none.N != 0 {
		t.Errorf("discarded %d of another topic, redrove %d of four, %d of none", topic.N, some.N, none.N)
	}
	rest := Discard(nil, nil)
	Do(t, db, rest)
	if rest.N != 3 {
		t.Errorf("discarded %d, want 3", rest.N)
	}
	if c := Count(t, db); c != (Counts{Ready: 1, Claimed: 1, Done: 1, Discarded: 3}) {
		t.Errorf("at the end: %+v", c)
	}
	CheckPlaces(t, p)
}

// D-21, OBX-018: without contention the oldest due come first, also when a
// claim has to cut a run.
func oldestFirst(t *testing.T, p *Place) {
	db := Migrated(t, p)
	var want, got []int64
	for range 20 {
		want = append(want, Put(t, db, 7)...)
	}
	for len(got) < len(want) {
		ids := Take(t, db, Token(), 9)
		if len(ids) == 0 {
			break
		}
		got = append(got, ids...)
	}
	if err := same(got, want); err != nil {
		t.Error(err)
	}
}

// D-13, OBX-017, OBX-026, OBX-098, OBX-100, OBX-101: claimers in several
// handles share messages out, and none is with two of them.
func manyClaimers(t *testing.T, p *Place) {
	dbs := []engine.DB{Migrated(t, p), p.Open(t, Options{})}
	for range 30 {
		Put(t, dbs[0], 20)
	}
	var mu sync.Mutex
	seen := map[int64]int{}
	var acked int64
	all(t, 6, func(i int) error {
		db := dbs[i%2]
		for {
			owner := Token()
			var got []Message
			if err := db.Do(context.Background(), Claim(owner, Lease, 13, &got)); err != nil {
				return err
			}
			if len(got) == 0 {
				if Count(t, db).Ready == 0 {
					return nil
				}
				continue
			}
			held := make([]Span, len(got))
			for i, m := range got {
				held[i] = Span{m.ID, 1}
			}
			ack := Ack(owner, held...)
			if err := db.Do(context.Background(), ack); err != nil {
				return err
			}
			mu.Lock()
			for _, m := range got {
				seen[m.ID]++
			}
			acked += ack.N
			mu.Unlock()
		}
	})
	for id, n := range seen {
		if n != 1 {
			t.Errorf("message %d was claimed %d times", id, n)
		}
	}
	if len(seen) != 600 || acked != 600 {
		t.Errorf("claimed %d, acked %d of 600", len(seen), acked)
	}
	CheckPlaces(t, p)
}

// D-13, D-23, OBX-098: goroutines that settle interleaved parts of one claim at
// the same time share it out exactly.
func interleaved(t *testing.T, p *Place) {
	dbs := []engine.DB{Migrated(t, p), p.Open(t, Options{})}
	const settlers, size = 4, 48
	for range 12 {
		owner := Token()
		ids := Put(t, dbs[0], size)
		Take(t, dbs[0], owner, size)
		var total [settlers]int64
		all(t, settlers, func(i int) error {
			mine := make([]int64, 0, size/settlers)
			for k := i; k < size; k += settlers {
				mine = append(mine, ids[k])
			}
			rand.Shuffle(len(mine), func(a, b int) { mine[a], mine[b] = mine[b], mine[a] })
			for _, id := range mine {
				c := Ack(owner, Span{id, 1})
				if err := dbs[i%2].Do(context.Background(), c); err != nil {
					return err
				}
				total[i] += c.N
			}
			return nil
		})
		for i, n := range total {
			if n != size/settlers {
				t.Errorf("settler %d touched %d of %d", i, n, size/settlers)
			}
		}
	}
	if c := Count(t, dbs[0]); c != (Counts{Done: 12 * size}) {
		t.Errorf("at the end: %+v", c)
	}
	CheckPlaces(t, p)
}

// D-12, D-16, OBX-036, OBX-050: abandoned messages and single suspects whose lease
// ran out have one more attempt on their account, released ones and others that ran
// out have not, redriven ones start anew.
func attempts(t *testing.T, p *Place) {
	db := Migrated(t, p)
	id := Put(t, db, 1)[0]
	zero := shortDelay
	for i, step := range []struct {
		settle func(owner [16]byte) *engine.Call
		want   int
	}{
		{func(o [16]byte) *engine.Call { return Release(o, 0, Span{id, 1}) }, 0},
		{func(o [16]byte) *engine.Call { return Abandon(o, &zero, "x", Span{id, 1}) }, 1},
		{func(o [16]byte) *engine.Call { return Release(o, 0, Span{id, 1}) }, 1},
		{func(o [16]byte) *engine.Call { return Extend(o, time.Nanosecond, Span{id, 1}) }, 1}, // and lets it expire
		{func(o [16]byte) *engine.Call { return Extend(o, time.Nanosecond, Span{id, 1}) }, 2},
		{func(o [16]byte) *engine.Call { return Release(o, 0, Span{id, 1}) }, 2},
		{func(o [16]byte) *engine.Call { return Extend(o, time.Nanosecond, Span{id, 1}) }, 3},
		{func(o [16]byte) *engine.Call { return Abandon(o, &zero, "x", Span{id, 1}) }, 4},
		{func(o [16]byte) *engine.Call { return Extend(o, time.Nanosecond, Span{id, 1}) }, 4},
		{func(o [16]byte) *engine.Call { return Fail(o, "x", Span{id, 1}) }, 0}, // and is redriven
	} {
		owner := Token()
		var got []Message
		Do(t, db, ClaimAny(owner, Lease, 1, &got))
		c := step.settle(owner)
		Do(t, db, c)
		if c.N != 1 {
			t.Fatalf("step %d touched %d", i, c.N)
		}
		Until(t, "the message is back", func() bool {
			Do(t, db, Reap())
			Do(t, db, Redrive(nil))
			Do(t, db, ClaimAny(owner, Lease, 1, &got))
			return len(got) == 1
		})
		if got[0].RetryCount != step.want {
			t.Errorf("step %d: %d attempts, want %d", i, got[0].RetryCount, step.want)
		}
		Do(t, db, Release(owner, 0, Span{id, 1}))
	}
}
