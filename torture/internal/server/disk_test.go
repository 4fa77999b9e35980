//go:build linux || darwin

package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// D-320, D-447: tables and the write-ahead log are on the disk that was asked for, those of a standby in
// folders of its own, and nothing of the server whose place it took stays there.
func TestOnDisk(t *testing.T) {
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
	if err := errors.Join(s.OnDisk(t.Context(), disk), s.WALOnDisk(t.Context(), disk)); err != nil {
		t.Fatal(err)
	}
	location := func(statement string) (tables, wal string) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		var data string
		const query = `SELECT pg_tablespace_location(reltablespace), current_setting('data_directory') FROM pg_class WHERE oid = 'a'::regclass`
		if err := c.QueryRow(t.Context(), query).Scan(&tables, &data); err != nil {
			t.Fatal(err)
		}
		if wal, err = os.Readlink(filepath.Join(data, "pg_wal")); err != nil {
			t.Fatal(err)
		}
		return tables, wal
	}
	first, firstWAL := location(`CREATE TABLE a AS SELECT 1 AS n`)
	if filepath.Dir(first) != disk || filepath.Dir(firstWAL) != disk || s.WALDisk() != disk {
		t.Errorf("the table is in %s and the log in %s, not on %s", first, firstWAL, disk)
	}
	if err := s.Failover(t.Context(), true, 0); err != nil {
		t.Fatal(err)
	}
	second, secondWAL := location(`INSERT INTO a SELECT n FROM a`)
	if filepath.Dir(second) != disk || second == first || filepath.Dir(secondWAL) != disk || secondWAL == firstWAL {
		t.Errorf("table and log of the standby are in %s and %s, those of the primary in %s and %s", second, secondWAL, first, firstWAL)
	}
	if all, err := os.ReadDir(disk); err != nil || len(all) != 2 {
		t.Errorf("on the disk are %v: %v", all, err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(disk); err != nil || len(all) != 0 {
		t.Errorf("on the disk stay %v: %v", all, err)
	}
}
