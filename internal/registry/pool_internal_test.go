package registry

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// D-582: what counts is who waited between two heartbeats, not before the first one, and two that follow
// each other at once are one.
func TestPoolLook(t *testing.T) {
	var p poolLook
	at := time.Now()
	for i, one := range []struct {
		after, waited time.Duration
		want          int64
	}{{0, 1000 * time.Hour, 0}, {10 * time.Second, 400 * time.Second, 40}, {10 * time.Millisecond, time.Hour, 40}, {4 * time.Hour, time.Hour, 0}} {
		at = at.Add(one.after)
		stats := engine.PoolStats{Max: 4, Waited: p.waited + one.waited}
		if got := p.look(&stats, at); got != one.want {
			t.Errorf("%d: %d wait, want %d", i, got, one.want)
		}
	}
}
