//go:build unix

// Package polyglot is tested: its commands are those of the README.
package polyglot_test

import (
	"context"
	"io"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/apt"
	"github.com/bravellian/pawl/internal/guide"
	"github.com/bravellian/pawl/internal/testpg"
)

// D-243: what the README shows is what happens.
func TestReadme(t *testing.T) {
	guide.Need(t, "node", "nodejs") // the package has another name
	guide.Need(t, "npm")
	// Debian's Python has the driver; another one that comes first in PATH has not.
	if err := apt.Install(t.Context(), io.Discard, "python3-psycopg2"); err != nil {
		t.Fatal(err)
	}
	guide.Play(t, "README.md", "../..", "/tmp", t.TempDir(), "postgres://localhost/shop", database(t), "python3", "/usr/bin/python3")
}

// database makes a database for the test alone, as the scripts use the schema pawl, and returns its URL.
func database(t *testing.T) string {
	t.Helper()
	const name = "pawl_polyglot"
	server, err := pgx.Connect(t.Context(), testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.Background()) })
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "CREATE DATABASE " + name} {
		if _, err := server.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = server.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)") })
	u, err := url.Parse(testpg.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
