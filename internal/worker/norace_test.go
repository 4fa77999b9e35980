//go:build !race

package worker_test

// checks is how many simulations run.
const checks = "100"
