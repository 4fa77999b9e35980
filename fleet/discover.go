package fleet

import (
	"context"
	"database/sql"
	"fmt"
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
			dbs = append(dbs, Database{Key: key.String, URL: url.String, Schema: schema.String, Prefix: prefix.String})
		}
		return dbs, rows.Err()
	})
}
