package postgres

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// D-833: however many positions others ask for, a bounded number of them is remembered, and the newest are.
func TestEndsAreBounded(t *testing.T) {
	var e ends
	const n = 100_000
	now := time.Now()
	for p := range int64(n) {
		e.remember([]int64{p}, now)
	}
	if kept := e.asked.Load(); kept > 2*endsMost || kept < endsMost {
		t.Errorf("%d positions are remembered", kept)
	}
	if got := e.take(slices.Values([]int64{0, n - 1, n - 1})); !slices.Equal(got, []int64{n - 1}) {
		t.Errorf("asked for %v", got)
	}
}

// D-833: what is not asked for again is forgotten, if others are asked for or not.
func TestEndsAreForgotten(t *testing.T) {
	var e ends
	then := time.Now().Add(-endsKept)
	e.remember([]int64{1}, then.Add(-endsKept))
	e.remember([]int64{2}, then)
	e.remember([]int64{3}, time.Now())
	if got := e.take(slices.Values([]int64{1, 2, 3})); !slices.Equal(got, []int64{2, 3}) {
		t.Errorf("asked for %v", got)
	}
	var quiet ends
	quiet.remember([]int64{4}, then.Add(-endsKept))
	if got := quiet.take(slices.Values([]int64{4})); got != nil || quiet.asked.Load() != 0 {
		t.Errorf("asked for %v", got)
	}
}

// D-833: a payload is below PostgreSQL's limit of 8000 bytes, and says what it was made of. What pawl did not
// make, and what this process asks itself, is ignored.
func TestEndsPayload(t *testing.T) {
	positions := slices.Repeat([]int64{math.MaxInt64}, endsEach)
	payload := endsPayload(endsAsked, positions)
	if len(payload) >= 8000 {
		t.Errorf("%d bytes", len(payload))
	}
	var e ends
	for _, bad := range []string{"", "?", "!", "?x y", "?1,,2", "#1", "1"} {
		e.received(&pgconn.Notification{Payload: bad}, false)
	}
	e.received(&pgconn.Notification{Payload: payload}, true)
	if e.asked.Load() != 0 {
		t.Errorf("%d positions are remembered", e.asked.Load())
	}
	e.received(&pgconn.Notification{Payload: endsPayload(endsAsked, []int64{1, math.MaxInt64})}, false)
	if got := e.take(slices.Values([]int64{1, 2, math.MaxInt64})); !slices.Equal(got, []int64{1, math.MaxInt64}) {
		t.Errorf("asked for %v", got)
	}
}

// D-832: without a connection that listens nobody can be asked, and telling does not wait.
func TestEndsWithoutListener(t *testing.T) {
	db := &DB{}
	db.listen = &listener{db: db, channel: "c", requests: make(chan request)}
	if err := db.AskEnds(context.Background(), []int64{1}); !errors.Is(err, errNotListening) {
		t.Error(err)
	}
	db.listen.silent.Store(true)
	if db.HearEnds(func([]int64) {})(); db.listen.users != 0 {
		t.Error("it listens where no notification arrives")
	}
	db.listen.ends.remember([]int64{1}, time.Now())
	db.TellEnds(slices.Values([]int64{1}))
}
