package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
)

// Migration is one step of the schema: engine/<engine>/schema/0001_name.sql.
// Migrations are append-only; an applied one is known by its checksum.
type Migration struct {
	Version  int
	Name     string
	SQL      string // rendered
	Checksum string // of the text before rendering: the same under every name
}

// Applied is a migration that the database has.
type Applied struct {
	Version  int
	Checksum string
}

var migrationFile = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)

// LoadMigrations reads schema/*.sql in order of version, without gaps.
func LoadMigrations(files fs.FS, n Names) ([]Migration, error) {
	entries, err := fs.ReadDir(files, "schema")
	if err != nil {
		return nil, fmt.Errorf("load migrations: %w", err)
	}
	var all []Migration
	for _, e := range entries {
		parts := migrationFile.FindStringSubmatch(e.Name())
		if parts == nil {
			return nil, fmt.Errorf("load migrations: unexpected file %q", e.Name())
		}
		text, err := fs.ReadFile(files, "schema/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("load migrations: %w", err)
		}
		version, _ := strconv.Atoi(parts[1])
		sum := sha256.Sum256(text)
		all = append(all, Migration{version, parts[2], n.Render(string(text)), hex.EncodeToString(sum[:])})
	}
	slices.SortFunc(all, func(a, b Migration) int { return a.Version - b.Version })
	for i, m := range all {
		if m.Version != i+1 {
			return nil, fmt.Errorf("load migrations: version %d missing", i+1)
		}
	}
	return all, nil
}

// Pending compares what this build wants with what the database has: the
// migrations still to apply, or why the schema cannot be used.
func Pending(want []Migration, have []Applied) ([]Migration, error) {
	for i, a := range have {
		if a.Version > len(want) {
			return nil, fmt.Errorf("%w: the database has version %d, this build knows %d: update this program", ErrSchemaNew, a.Version, len(want))
		}
		if m := want[i]; m.Version != a.Version || m.Checksum != a.Checksum {
			return nil, fmt.Errorf("%w: version %d (%s)", ErrSchemaChanged, m.Version, m.Name)
		}
	}
	return want[len(have):], nil
}

// Check is what CheckSchema answers for a database with these migrations.
func Check(want []Migration, have []Applied) error {
	pending, err := Pending(want, have)
	switch {
	case err != nil:
		return err
	case len(have) == 0:
		return fmt.Errorf("%w: run `pawl migrate` or call Migrate", ErrSchemaMissing)
	case len(pending) > 0:
		return fmt.Errorf("%w: the database has version %d, this build needs %d: run `pawl migrate` or call Migrate", ErrSchemaOld, len(have), len(want))
	}
	return nil
}
