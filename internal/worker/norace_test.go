//go:build !race

package worker_test

// How many seeds are simulated: each time, with PAWL_LONG, and twice.
const (
	simulatedShort = 100
	simulatedLong  = 5000
	simulatedTwice = 20
)
