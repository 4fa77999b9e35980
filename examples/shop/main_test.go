//go:build unix

package main

import (
	"testing"

	"github.com/bravellian/pawl/internal/test/guide"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// D-243: what the README shows is what happens, on SQLite and on PostgreSQL.
func TestReadme(t *testing.T) {
	guide.Need(t, "curl")
	for engine, db := range map[string]string{"sqlite": "shop.db", "postgres": testpg.Database(t)} {
		t.Run(engine, func(t *testing.T) {
			replace := []string{"/tmp", t.TempDir(), "8080", guide.FreePort(t)}
			if engine != "sqlite" {
				replace = append(replace, "shop -listen", "shop -db "+db+" -listen", "sqlite:shop.db", db)
			}
			guide.Play(t, "README.md", "../..", replace...)
		})
	}
}
