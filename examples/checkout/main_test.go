//go:build unix

package main

import (
	"testing"

	"github.com/bravellian/pawl/internal/test/guide"
)

// D-243: what the README shows is what happens.
func TestReadme(t *testing.T) { guide.Play(t, "README.md", "../..", "/tmp/", t.TempDir()+"/") }
