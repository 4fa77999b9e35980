// Package proxytest puts the proxy and the pooler of package dbproxy between a test and
// PostgreSQL. They stop when the test ends.
package proxytest

import (
	"testing"

	"github.com/bravellian/pawl/internal/test/dbproxy"
)

// Proxy is a proxy that ends with its test.
type Proxy = dbproxy.Proxy

// Pooler is a pooler that ends with its test.
type Pooler = dbproxy.Pooler

// New starts a proxy for the server of a postgres:// URL, and stops it when
// the test ends.
func New(t testing.TB, server string) *Proxy {
	t.Helper()
	p, err := dbproxy.Start(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// NewPooler starts a pooler for the server of a postgres:// URL, and stops it when
// the test ends.
func NewPooler(t testing.TB, server string) *Pooler {
	t.Helper()
	p, err := dbproxy.StartPooler(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}
