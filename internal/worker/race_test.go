//go:build race

package worker_test

// How many seeds are simulated under the race detector, whose own runtime now and then fails after many
// thousands of goroutines: two runs with 100 simulations ended in it, one with "CHECK failed:
// tsan_rtl.cpp", one in its StackDepot. Without it there are more.
const (
	simulatedShort = 10
	simulatedLong  = 100
	simulatedTwice = 3
)
