package nemesis

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// D-837: a file whose log was written back in part, when the processes ended, is not put in the place of the database: it
// is damaged, which is no fault of theirs.
func TestFilesWrittenBackInPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	image := func(statement string) []byte {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const fill = `WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t (a, b) SELECT i, hex(randomblob(50)) FROM n;`
	before := image(`CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT); CREATE INDEX u ON t (b);` + fill)
	after := image(`DELETE FROM t WHERE a % 3 = 0;` + fill)
	for name, content := range map[string][]byte{"before": before, "after": after} {
		if err := os.WriteFile(path+name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := whole(t.Context(), path+name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	part := append(append([]byte{}, after[:len(before)/2]...), before[len(before)/2:]...)
	if err := os.WriteFile(path+"part", part, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := whole(t.Context(), path+"part"); !errors.Is(err, errPartly) {
		t.Errorf("in part: %v", err)
	}
}
