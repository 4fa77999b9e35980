//go:build linux || darwin

package server

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// D-320: tables are on the disk that was asked for, those of a standby in a folder of its own,
// and nothing of the server whose place it took stays there.
func TestTablesOnDisk(t *testing.T) {
	t.Parallel()
	disk, err := os.MkdirTemp("/tmp", "pawl-disk-") //nolint:usetesting // the server's user may not enter others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(disk) })
	if err := os.Chmod(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), t.TempDir(), map[string]string{"fsync": "off"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	if err := s.OnDisk(t.Context(), disk); err != nil {
		t.Fatal(err)
	}
	location := func(statement string) string {
		t.Helper()
		c, err := pgx.Connect(t.Context(), s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		var where string
		const query = `SELECT pg_tablespace_location(reltablespace) FROM pg_class WHERE oid = 'a'::regclass`
		if err := c.QueryRow(t.Context(), query).Scan(&where); err != nil {
			t.Fatal(err)
		}
		return where
	}
	first := location(`CREATE TABLE a AS SELECT 1 AS n`)
	if filepath.Dir(first) != disk {
		t.Errorf("the table is in %s, not on %s", first, disk)
	}
	if err := s.Failover(t.Context(), true, 0); err != nil {
		t.Fatal(err)
	}
	if second := location(`INSERT INTO a SELECT n FROM a`); filepath.Dir(second) != disk || second == first {
		t.Errorf("the table of the standby is in %s, that of the primary in %s", second, first)
	}
	if all, err := os.ReadDir(disk); err != nil || len(all) != 1 {
		t.Errorf("on the disk are %v: %v", all, err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(disk); err != nil || len(all) != 0 {
		t.Errorf("on the disk stay %v: %v", all, err)
	}
}
