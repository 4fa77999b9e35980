package target

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
)

// Scratch returns a target that has what it stores for itself: a schema of a server's database, or a file beside
// SQLite's. name is one that nothing else has.
func (t Target) Scratch(name string) Target {
	t.names.Prefix = ""
	if path, isFile := t.File(); isFile {
		t.path = path + "." + name
		return t
	}
	t.names.Schema = name
	return t
}

// RemoveScratch removes what Open and Migrate of a target of Scratch have made.
func (t Target) RemoveScratch(ctx context.Context) error {
	if path, isFile := t.File(); isFile {
		return removeFiles(path)
	}
	db, err := t.Open(Options{})
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if server, ok := engine.As[*postgres.DB](db); ok {
		_, err := server.Pool().Exec(ctx, "DROP SCHEMA IF EXISTS "+t.names.Schema+" CASCADE")
		return err
	}
	server, ok := engine.As[interface {
		DropSchema(ctx context.Context, key access.Key) error
	}](db)
	if !ok {
		return fmt.Errorf("%s cannot drop a schema", db.Engine())
	}
	return server.DropSchema(ctx, access.Key{})
}

// removeFiles removes a SQLite file and those beside it.
func removeFiles(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)) {
			if err := os.Remove(filepath.Join(filepath.Dir(path), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Hide takes out of a text what says where the target is and who uses it: host, user, password, database, path; and
// this machine's name.
func (t Target) Hide(text string) string {
	words := t.secrets()
	if host, err := os.Hostname(); err == nil {
		words = append(words, host)
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) }) // a path before its folder
	for _, w := range words {
		if w != "" && w != "pawl" && w != "." && w != "/" {
			text = regexp.MustCompile(`(?i)(^|\W)`+regexp.QuoteMeta(w)+`($|\W)`).ReplaceAllString(text, "${1}…${2}")
		}
	}
	return text
}

func (t Target) secrets() (all []string) {
	if path, isFile := t.File(); isFile {
		return []string{path, filepath.Dir(path), filepath.Base(path)}
	}
	if t.postgres != "" {
		config, err := pgconn.ParseConfig(t.postgres)
		if err != nil {
			return nil
		}
		all = []string{config.User, config.Password, config.Database, config.Host}
		for _, f := range config.Fallbacks {
			all = append(all, f.Host)
		}
		return all
	}
	u, err := url.Parse(t.sqlserver)
	if err != nil {
		return nil
	}
	all = []string{u.Host, u.Hostname(), strings.Trim(u.Path, "/"), u.User.Username()}
	password, _ := u.User.Password()
	all = append(all, password)
	for _, values := range u.Query() {
		all = append(all, values...)
	}
	return all
}
