package postgres_test

import (
	"context"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
)

// FuzzOpen puts a password into every place of a connection string that may hold one:
// no error tells it, neither of opening nor of connecting.
func FuzzOpen(f *testing.F) {
	for _, around := range []string{"", "@", "/", "?x=", "#", "%", "%zz", " ", "'", "\\", "&", ";", ",", "[", "@/", "/@", "x@y/", "12/", "12?a=b&", " host=", "' host='"} {
		f.Add(around, "")
		f.Add("12"+around, around)
	}
	const canary = "kanari7"
	f.Fuzz(func(t *testing.T, before, after string) {
		password := before + canary + after
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		for _, text := range []string{
			"postgres://u:" + password + "@127.0.0.1:1/d", "postgres://u:p@127.0.0.1:1,u:" + password + "@127.0.0.1:1/d",
			"postgres://127.0.0.1:1/d?user=u&password=" + url.QueryEscape(password), "postgres://u:" + url.PathEscape(password) + "@127.0.0.1:1/d",
			"postgres://u@127.0.0.1:1/d?sslpassword=" + password, "host=127.0.0.1 port=1 user=u password='" + password + "'", "password=" + password + " host=127.0.0.1 port=1",
		} {
			for _, open := range []func(string) (engine.DB, error){
				func(text string) (engine.DB, error) { return postgres.Open(text) },
				func(text string) (engine.DB, error) { return postgres.OpenURL(engine.OpenOptions{URL: text}) },
			} {
				if err := reach(ctx, text, open); err == nil || strings.Contains(err.Error(), canary) {
					t.Errorf("%q: %v", text, err)
				}
			}
		}
	})
}

// reach is the error of opening a database, or of asking it.
func reach(ctx context.Context, text string, open func(string) (engine.DB, error)) error {
	db, err := open(text)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // there was no connection
	return db.CheckSchema(ctx)
}

// D-581: a pool that pawl makes has 16 connections at least, unless the URL or the opener says otherwise.
func TestPoolSize(t *testing.T) {
	t.Parallel()
	usual := int32(max(16, runtime.NumCPU()))
	for _, c := range []struct {
		o    engine.OpenOptions
		want int32
	}{
		{engine.OpenOptions{URL: "postgres://u@h/d"}, usual},
		{engine.OpenOptions{URL: "host=h user=u dbname=d"}, usual},
		{engine.OpenOptions{URL: "postgres://u@h/d?pool_max_conns=3"}, 3},
		{engine.OpenOptions{URL: "host=h pool_max_conns=40"}, 40},
		{engine.OpenOptions{URL: "postgres://u@h/d?pool_max_conns=3", Connections: 5}, 5},
		{engine.OpenOptions{URL: "postgres://u@h/d", Connections: 5}, 5},
	} {
		opened, err := postgres.OpenURL(c.o)
		if err != nil {
			t.Fatal(err)
		}
		all := []engine.DB{opened}
		if c.o.Connections == 0 {
			own, err := postgres.Open(c.o.URL)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, own)
		}
		for _, db := range all {
			if got := db.(*postgres.DB).Pool().Config().MaxConns; got != c.want {
				t.Errorf("%+v: %d connections", c.o, got)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
