package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Migration is one step of the schema: schema/0001_name.sql of an engine's folder.
// Migrations are append-only; an applied one is identified by its checksum.
type Migration struct {
	Version int
	Name    string
	Text    string // as its file has it: to be rendered
	// Lowest is the oldest version of the schema whose programs may use this one. A
	// migration sets it in a line "-- lowest: 3"; the default is the version before,
	// because migrations expand before they contract.
	Lowest   int
	Checksum string // of the text: the same under every name
}

// Applied is a migration that was applied to the database.
type Applied struct {
	Version  int
	Name     string
	Checksum string
	Lowest   int // see [Migration]
	At       time.Time
}

var (
	migrationFile   = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)
	migrationLowest = regexp.MustCompile(`(?m)^-- lowest: (\d+)$`)
)

// ParseMigration reads one migration from a file's name and text.
func ParseMigration(file, text string) (m Migration, err error) {
	parts := migrationFile.FindStringSubmatch(file)
	if parts == nil {
		return m, fmt.Errorf("load migrations: unexpected file %q", file)
	}
	m.Version, _ = strconv.Atoi(parts[1])
	m.Name, m.Text = parts[2], text
	sum := sha256.Sum256([]byte(text))
	m.Checksum = hex.EncodeToString(sum[:])
	m.Lowest = max(m.Version-1, 1)
	if lowest := migrationLowest.FindStringSubmatch(text); lowest != nil {
		m.Lowest, _ = strconv.Atoi(lowest[1])
	}
	if m.Lowest < 1 || m.Lowest > max(m.Version, 1) {
		return m, fmt.Errorf("load migrations: %s: lowest is %d", file, m.Lowest)
	}
	return m, nil
}

// LoadMigrations reads schema/*.sql in order of version, without gaps.
func LoadMigrations(files fs.FS) ([]Migration, error) {
	entries, err := fs.ReadDir(files, "schema")
	if err != nil {
		return nil, fmt.Errorf("load migrations: %w", err)
	}
	var all []Migration
	for _, e := range entries {
		text, err := fs.ReadFile(files, "schema/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("load migrations: %w", err)
		}
		m, err := ParseMigration(e.Name(), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Migration) int { return a.Version - b.Version })
	for i, m := range all {
		if m.Version != i+1 {
			return nil, fmt.Errorf("load migrations: version %d missing", i+1)
		}
	}
	return all, nil
}

// Pending compares this build's migrations with those the database has: it returns the
// migrations to apply, or why the schema cannot be used. newer means that the schema is of
// a newer program and usable by this one: there is nothing to apply, and this program must
// not change its routines and views.
func Pending(want []Migration, have []Applied) (pending []Migration, newer bool, err error) {
	lowest := 0
	for i, a := range have {
		lowest = max(lowest, a.Lowest)
		if a.Version > len(want) {
			if a.Version != i+1 { // newer programs may count in another way
				return nil, false, fmt.Errorf("%w: the database has version %d, this build knows %d: update this program", ErrSchemaNew, a.Version, len(want))
			}
			continue
		}
		if m := want[i]; m.Version != a.Version || m.Checksum != a.Checksum {
			return nil, false, fmt.Errorf("%w: version %d (%s)", ErrSchemaChanged, m.Version, m.Name)
		}
	}
	switch {
	case len(have) <= len(want):
		return want[len(have):], false, nil
	case len(want) < lowest:
		return nil, false, fmt.Errorf("%w: the database has version %d, for programs of version %d or later, and this build is of version %d: update this program", ErrSchemaNew, len(have), lowest, len(want))
	}
	return nil, true, nil
}
