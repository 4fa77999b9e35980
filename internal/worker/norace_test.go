//go:build !race

package worker_test

// checks is how many simulations run.
const checks = "100"

// How many seeds are simulated: each time, with PAWL_LONG, and twice.
const (
	simulatedShort = 100
	simulatedLong  = 5000
	simulatedTwice = 20
)
