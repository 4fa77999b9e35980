package fleet_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// silent returns a URL of a server that accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	over := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-over
	})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
		}
	}()
	return "postgres://app@" + l.Addr().String() + "/"
}

// D-265: a server that accepts connections and never answers, with many databases, holds up no
// store on another one, and all its stores are said to fail.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	url := testpg.Database(t)
	dbs := []fleet.Database{{Key: "a", URL: url, Schema: "a"}, {Key: "b", URL: url, Schema: "b"}}
	o, r := quick(), newRecord()
	o.Connections = 8
	well := open(t, fleet.Static(dbs...), o)
	if err := well.MigrateAll(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for host, i := silent(t), 0; i < 40; i++ {
		dbs = append(dbs, fleet.Database{Key: fmt.Sprintf("hung%02d", i), URL: fmt.Sprintf("%sdb%d", host, i)})
	}
	f := open(t, fleet.Static(dbs...), o)
	f.Handle("t", r.Handle)
	start(t, f)
	must(t, well.Refresh(t.Context()))
	for i := range 3 {
		for _, key := range []string{"a", "b"} {
			enqueue(t, well, key, 1)
			r.until(t, key, i+1)
		}
	}
	dbtest.Until(t, "all stores of the server fail", func() bool {
		return strings.HasPrefix(f.Operator(access.Key{}).State().Summary, "40 of 42 stores fail")
	})
}
