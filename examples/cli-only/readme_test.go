//go:build unix

// Package cli is tested: its commands are those of the README.
package cli_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/test/guide"
)

// D-243: what the README shows is what happens.
func TestReadme(t *testing.T) {
	dir := t.TempDir()
	guide.Play(t, "README.md", "../..", "/tmp", dir)
}
