package postgres

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/engine"
)

// Ends of messages are told on a channel of their own, so that it wakes no sleeping worker, also not those of
// earlier versions and in other languages. A payload is a mark and positions.
const (
	endsChannel = "_ends" // after the name of the channel of workers
	endsAsked   = '?'
	endsTold    = '!'
	// endsEach is the most positions of one payload, which has to be below 8000 bytes: each takes 14 at most.
	endsEach = 500
	endsBase = 36
)

// notifyEnds takes part in a commit that need not be on disk: the lock under which PostgreSQL commits
// notifications is held for a shorter time.
const notifyEnds = `SELECT pg_catalog.set_config('synchronous_commit', 'off', true), pg_catalog.pg_notify($1, $2)`

const (
	// Positions are remembered for endsKept to twice as long, and no more than twice endsMost of them.
	endsKept = 15 * time.Second
	endsMost = 1 << 13
	// hearLinger is how long the listener stays after its last user that only hears: the next one may come soon.
	hearLinger = time.Minute
)

// ends is who hears in this process, and what other processes ask.
type ends struct {
	asked   atomic.Int64 // how many positions are remembered, so that workers need no lock while there are none
	hearing atomic.Int64 // how many hearers there are, likewise

	mu           sync.Mutex
	hearers      map[*func([]int64)]struct{}
	young, older map[int64]struct{} // the positions asked for
	since        time.Time          // when young was begun
}

// HearEnds implements engine.EndTeller. Behind a pooler by the transaction, as workers found or an earlier
// call, it makes no connection.
func (db *DB) HearEnds(ended func(positions []int64)) (leave func()) {
	e := &db.listen.ends
	e.mu.Lock()
	if e.hearers == nil {
		e.hearers = map[*func([]int64)]struct{}{}
	}
	e.hearers[&ended] = struct{}{}
	e.hearing.Add(1)
	e.mu.Unlock()
	joined := !db.listen.silent.Load()
	if joined {
		db.listen.join()
	}
	return func() {
		e.mu.Lock()
		delete(e.hearers, &ended)
		e.hearing.Add(-1)
		e.mu.Unlock()
		if joined {
			time.AfterFunc(hearLinger, db.listen.leave)
		}
	}
}

// AskEnds implements engine.EndTeller.
func (db *DB) AskEnds(ctx context.Context, positions []int64) error {
	for some := range slices.Chunk(positions, endsEach) {
		if _, err := db.listen.ask(ctx, request{payload: endsPayload(endsAsked, some)}); err != nil {
			return err
		}
	}
	return nil
}

// TellEnds implements engine.EndTeller.
func (db *DB) TellEnds(positions iter.Seq[int64]) {
	e := &db.listen.ends
	if e.hearing.Load() > 0 { // of this process, which does not ask itself
		e.hear(slices.Collect(positions))
	}
	if e.asked.Load() == 0 {
		return
	}
	for some := range slices.Chunk(e.take(positions), endsEach) {
		_ = db.listen.submit(request{payload: endsPayload(endsTold, some)}) // who asked reads now and then
	}
}

// hear passes on what others told; nil: something may have been missed.
func (e *ends) hear(positions []int64) {
	e.mu.Lock()
	var hearers []func([]int64)
	for h := range e.hearers {
		hearers = append(hearers, *h)
	}
	e.mu.Unlock()
	for _, h := range hearers {
		h(positions)
	}
}

// remember keeps positions that another process asks for. What was asked first is forgotten first.
func (e *ends) remember(positions []int64, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range positions {
		if e.young == nil || len(e.young) >= endsMost || now.Sub(e.since) >= endsKept {
			e.older, e.young, e.since = e.young, map[int64]struct{}{}, now
		}
		e.young[p] = struct{}{}
	}
	e.asked.Store(int64(len(e.young) + len(e.older)))
}

// take returns which of the positions are asked for, and forgets them.
func (e *ends) take(positions iter.Seq[int64]) (asked []int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.since) >= 2*endsKept { // nobody has asked since
		e.young, e.older = nil, nil
	}
	for p := range positions {
		_, young := e.young[p]
		_, older := e.older[p]
		if young || older {
			asked = append(asked, p)
		}
		delete(e.young, p)
		delete(e.older, p)
	}
	e.asked.Store(int64(len(e.young) + len(e.older)))
	return asked
}

// received takes what was notified on the channel of ends. What this process itself asks it knows anyway.
func (e *ends) received(n *pgconn.Notification, own bool) {
	if n.Payload == "" || own {
		return
	}
	positions := endsPositions(n.Payload[1:])
	switch {
	case len(positions) == 0: // none of pawl's
	case n.Payload[0] == endsAsked:
		e.remember(positions, time.Now())
	case n.Payload[0] == endsTold:
		e.hear(positions)
	}
}

// notifyEnds sends a payload. A notification that the server refuses is lost, and the connection goes on.
func (l *listener) notifyEnds(ctx context.Context, conn *pgx.Conn, payload string) (uint64, error) {
	_, err := conn.Exec(ctx, notifyEnds, l.channel+endsChannel, payload)
	switch {
	case err == nil:
		return l.connected(), nil
	case conn.IsClosed():
		return 0, err
	}
	return 0, nil
}

func endsPayload(mark byte, positions []int64) string {
	b := []byte{mark}
	for i, p := range positions {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, p, endsBase)
	}
	return string(b)
}

// endsPositions returns the positions of a payload, or nil.
func endsPositions(s string) (positions []int64) {
	for part := range strings.SplitSeq(s, ",") {
		p, err := strconv.ParseInt(part, endsBase, 64)
		if err != nil {
			return nil
		}
		positions = append(positions, p)
	}
	return positions
}

var _ engine.EndTeller = (*DB)(nil)
