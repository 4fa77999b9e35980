package fleet

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Table is a discovery that reads a control table: query returns a row per
// database with the columns key and URL and, if it has more, schema and prefix.
//
//	fleet.Table(db, "SELECT tenant, database_url FROM tenants WHERE active")
func Table(db *sql.DB, query string) Discovery {
	return DiscoveryFunc(func(ctx context.Context) ([]Database, error) {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("discover databases: %w", err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		if len(columns) < 2 || len(columns) > 4 {
			return nil, fmt.Errorf("discover databases: the query returns %d columns, want key, URL, and perhaps schema and prefix", len(columns))
		}
		var dbs []Database
		for rows.Next() {
			var key, url, schema, prefix sql.NullString
			if err := rows.Scan([]any{&key, &url, &schema, &prefix}[:len(columns)]...); err != nil {
				return nil, fmt.Errorf("discover databases: %w", err)
			}
			dbs = append(dbs, Database{key.String, url.String, schema.String, prefix.String})
		}
		return dbs, rows.Err()
	})
}

// Directory is a discovery of SQLite files: all in dir that match a pattern such
// as "*.db". Their names without the ending are the keys.
func Directory(dir, pattern string) Discovery {
	return DiscoveryFunc(func(context.Context) ([]Database, error) {
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("discover databases: %w", err)
		}
		files, err := filepath.Glob(filepath.Join(escape(dir), pattern))
		if err != nil {
			return nil, fmt.Errorf("discover databases: pattern %q: %w", pattern, err)
		}
		var dbs []Database
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || isLog(file) {
				continue
			}
			name := filepath.Base(file)
			dbs = append(dbs, Database{Key: strings.TrimSuffix(name, filepath.Ext(name)), URL: "sqlite:" + file})
		}
		return dbs, nil
	})
}

// isLog tells SQLite's own files beside a database.
func isLog(file string) bool {
	return strings.HasSuffix(file, "-wal") || strings.HasSuffix(file, "-shm") || strings.HasSuffix(file, "-journal")
}

// escape keeps what is special in a pattern from being so in a directory's name.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
