package check

import (
	"testing"
)

// D-283: a run in which nothing is broken is accepted, whatever kills, stops, lost replies
// and rewinds make of its history.
func TestCleanHistories(t *testing.T) {
	const seeds = 40
	for seed := range uint64(seeds) {
		rewinds := seed%2 == 1
		events, final := simulate(seed, 1200, rewinds)
		report, err := Check(events, final)
		if err != nil {
			t.Fatal(err)
		}
		if !report.OK() {
			t.Fatalf("seed %d:\n%s", seed, report)
		}
		if seed < 2 {
			t.Logf("seed %d:\n%s", seed, report)
		}
	}
}
