package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// OBX-017, D-21: a claim of a worker loop begins at the mark only while the last
// one from the beginning is less than ten times its length ago, and never more
// than a second; any other claim begins at the beginning, and one that was not
// full makes the next one do so.
func TestMark(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := at
	tuner := &tuner{perRow: 1}
	claim := func(loops bool, takes time.Duration, want, got int) (whole bool) {
		t.Helper()
		seen := &claimed{began: now, byLoop: loops}
		_, from := tuner.hint(want, seen)
		infinite := from.InfinityModifier == pgtype.NegativeInfinity
		if infinite != seen.full || !infinite && !from.Time.Equal(at.Add(-markMargin)) {
			t.Errorf("the claim begins at %v, whole is %v", from, seen.full)
		}
		now = now.Add(takes)
		seen.n, seen.oldest = got, at
		tuner.learn(want, seen, now)
		return seen.full
	}
	loop := func(takes time.Duration, want, got int) bool { t.Helper(); return claim(true, takes, want, got) }

	for _, takes := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 10 * time.Second} {
		tuner.mark, tuner.nextFull = time.Time{}, time.Time{}
		if !loop(takes, 10, 10) {
			t.Fatal("the first claim begins at a mark that nobody has set")
		}
		wait := min(10*takes, time.Second)
		now = now.Add(wait - 1)
		if loop(0, 10, 10) {
			t.Errorf("%v after a claim of %v: from the beginning again", wait-1, takes)
		}
		if claim(false, 0, 10, 10); loop(0, 10, 10) {
			t.Errorf("another's claim from the beginning moved the loop's")
		}
		now = now.Add(1)
		if !loop(takes, 10, 10) {
			t.Errorf("%v after a claim of %v: not from the beginning", wait, takes)
		}
		if loop(0, 10, 9) || !loop(takes, 10, 10) {
			t.Error("after a claim that was not full: not from the beginning")
		}
		if !claim(false, 0, 1, 1) {
			t.Error("a claim that no loop makes begins at the mark")
		}
	}
}
