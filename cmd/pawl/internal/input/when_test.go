package input_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/input"
)

// D-707: a time is one, a duration from now or ago, in days, too, or now.
func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"now": 0, "0s": 0, "10m": 10 * time.Minute, "2d": 2 * day, "1d12h30m": day + 12*time.Hour + 30*time.Minute, "0d": 0, "65535d": 65535 * day,
	} {
		for _, sign := range []time.Duration{1, -1} {
			if at, err := input.ParseWhen(text, now, sign); err != nil || !at.Equal(now.Add(sign*want)) {
				t.Errorf("%s, %d: %v, %v", text, sign, at, err)
			}
			if at, err := input.ParseWhen("2030-01-31T12:00:00+01:00", now, sign); err != nil || at.Unix() != 1896087600 {
				t.Error(at, err)
			}
		}
	}
	for _, text := range []string{"", "soon", "-1h", "-1d", "1d-1h", "1h1d", "d", "2 d", "1.5d", "65536d", "2030-01-31", "10", "Now", "1dd"} {
		if at, err := input.ParseWhen(text, now, 1); err == nil {
			t.Errorf("%q: %v", text, at)
		}
	}
}
