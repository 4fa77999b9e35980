package sqlservertest_test

import (
	"os"
	"testing"

	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/pawltest"
	"github.com/bravellian/pawl/sqlserver/sqlservertest"
)

// A test of a program has a database of its own on a SQL Server.
func ExampleNew() {
	test := func(t *testing.T) {
		d := sqlservertest.New(t, os.Getenv("TEST_SQLSERVER")) // sqlserver://sa@localhost?database=test
		if _, err := d.Pawl.Outbox.Enqueue(t.Context(), outbox.Message{Topic: "mail"}); err != nil {
			t.Fatal(err)
		}
		d.AssertEnqueued(t, pawltest.Topic("mail"))
	}
	_ = test
}
