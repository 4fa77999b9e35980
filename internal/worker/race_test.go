//go:build race

package worker_test

// checks is how many simulations run under the race detector, whose own runtime now and then fails
// after many thousands of goroutines: two runs of make test with 100 simulations ended in it, one
// with "CHECK failed: tsan_rtl.cpp", one in its StackDepot. make test-narrow runs the 100 without it.
const checks = "25"

const (
	simulatedShort = 10
	simulatedLong  = 100
	simulatedTwice = 3
)
