//go:build unix

// Package polyglot is tested: its commands are those of the README.
package polyglot_test

import (
	"io"
	"testing"

	"github.com/bravellian/pawl/internal/test/apt"
	"github.com/bravellian/pawl/internal/test/guide"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// D-243: what the README shows is what happens.
func TestReadme(t *testing.T) {
	guide.Need(t, "node", "nodejs") // the package has another name
	guide.Need(t, "npm")
	// Debian's Python has the driver; another one that comes first in PATH has not.
	if err := apt.Install(t.Context(), io.Discard, "python3-psycopg2"); err != nil {
		t.Fatal(err)
	}
	guide.Play(t, "README.md", "../..", "/tmp", t.TempDir(), "postgres://localhost/shop", testpg.Database(t), "python3", "/usr/bin/python3")
}
