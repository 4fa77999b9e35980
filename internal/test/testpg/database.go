package testpg

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Database makes a database for a test that needs one of its own, since a program chooses its schemas,
// and returns its URL. It is dropped with the test, with whoever is still connected. The options are those
// of CREATE DATABASE.
func Database(t testing.TB, options ...string) string {
	t.Helper()
	at := URL(t)
	server, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	name := "pawl_test_" + strings.ToLower(rand.Text())
	if _, err := server.Exec(t.Context(), "CREATE DATABASE "+name+" "+strings.Join(options, " ")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		if _, err := server.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		_ = server.Close(ctx)
	})
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
