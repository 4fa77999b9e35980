package tdstest_test

import (
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbproxy"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// D-840: the proxy of the torture cuts a commit before a SQL Server has it, or when it has committed, by the
// protocol or by text. Another request it cuts as well, and what it was not asked to cut it hands on.
func TestProxyCutsCommits(t *testing.T) {
	var mu sync.Mutex
	var got []tdstest.Kind
	s := tdstest.New(t, func(r *tdstest.Request) tdstest.Answer {
		if r.Kind != tdstest.Login {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, r.Kind)
		}
		return tdstest.Answer{}
	})
	p := proxytest.New(t, s.URL())
	pool, err := sql.Open("sqlserver", p.URL(s.URL()))
	must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	transaction := func(text string) error {
		tx, err := pool.Begin()
		if err != nil {
			return err
		}
		_, err = tx.Exec(text)
		return errors.Join(err, tx.Commit())
	}
	const plain, end = "UPDATE t SET word = 'COMMITTED'", "DELETE t; COMMIT TRANSACTION"
	for name, test := range map[string]struct {
		cut  func()
		text string
		want []tdstest.Kind // that the server has
	}{
		"before":            {p.CutBefore, plain, []tdstest.Kind{tdstest.Begin, tdstest.Batch}},
		"after":             {func() { p.CutAfter("COMMIT") }, plain, []tdstest.Kind{tdstest.Begin, tdstest.Batch, tdstest.Commit}},
		"before, by text":   {p.CutBefore, end, []tdstest.Kind{tdstest.Begin}},
		"after, by text":    {func() { p.CutAfter("COMMIT") }, end, []tdstest.Kind{tdstest.Begin, tdstest.Batch}},
		"after any request": {func() { p.CutAfter("SELECT") }, plain, []tdstest.Kind{tdstest.Begin, tdstest.Batch}},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, transaction(plain))
			mu.Lock()
			got = nil
			mu.Unlock()
			cuts := p.Cuts()
			test.cut()
			if err := transaction(test.text); err == nil {
				t.Error("a commit that was cut has no error")
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(got, test.want) || p.Cuts() != cuts+1 {
				t.Errorf("%d cuts, the server has %v; want %v", p.Cuts()-cuts, got, test.want)
			}
		})
	}
}

// D-840: the proxy's URL asks for no encryption; an instance that only a name addresses is refused.
func TestProxyURL(t *testing.T) {
	const server = "sqlserver://u:p@192.0.2.1?database=d&encrypt=true"
	u, err := url.Parse(proxytest.New(t, server).URL(server))
	must(t, err)
	if u.Hostname() != "127.0.0.1" || u.RawQuery != "database=d&encrypt=disable" {
		t.Error(u.Redacted())
	}
	if p, err := dbproxy.Start("sqlserver://u:secret@192.0.2.1/instance"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v, %v", p, err)
	}
}
