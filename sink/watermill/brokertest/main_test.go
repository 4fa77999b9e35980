// Package brokertest_test forwards an outbox to brokers that are killed meanwhile. It is a module of
// its own, so that brokers and their clients are dependencies of these tests alone.
package brokertest_test

import (
	"fmt"
	"os"
	"testing"
)

// serveVariable names a broker that this program is to be, instead of a test.
const serveVariable = "PAWL_TEST_BROKER"

// TestMain runs the tests, or one of the brokers that are Go programs: a test starts this program
// again to have one in a process that can be killed.
func TestMain(m *testing.M) {
	name := os.Getenv(serveVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	serve := map[string]func(dir string, port int) error{"nats": serveNATS, "kafka": serveKafka}[name]
	dir, port := "", 0
	if _, err := fmt.Sscanf(os.Getenv(serveVariable+"_AT"), "%d %s", &port, &dir); err != nil || serve == nil {
		fmt.Fprintln(os.Stderr, "brokertest: what to serve?", name, err)
		os.Exit(2)
	}
	if err := serve(dir, port); err != nil {
		fmt.Fprintln(os.Stderr, "brokertest:", err)
		os.Exit(1)
	}
	select {} // until it is killed
}
