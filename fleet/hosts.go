package fleet

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// Hosts is a discovery that reads the servers of a cluster: query returns a row per server
// with the columns key, host and port, and url is the address of each with {host} and {port}
// in their places. Passwords stay in url, so that no server sees another's.
//
//	fleet.Hosts(coordinator, postgres.CitusNodes, "postgres://app:secret@{host}:{port}/shop")
func Hosts(db *sql.DB, query, url string) Discovery {
	return DiscoveryFunc(func(ctx context.Context) (dbs []Database, err error) {
		if !strings.Contains(url, "{host}") || !strings.Contains(url, "{port}") {
			return nil, engine.Invalid("URL", "it lacks {host} or {port}: every server would be the same")
		}
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("discover servers: %w", err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			return nil, err
		}
		if len(columns) != 3 {
			return nil, fmt.Errorf("discover servers: the query returns %d columns, want key, host and port", len(columns))
		}
		for rows.Next() {
			var key, host, port sql.NullString
			if err := rows.Scan(&key, &host, &port); err != nil {
				return nil, fmt.Errorf("discover servers: %w", err)
			}
			dbs = append(dbs, Database{Key: key.String, URL: addressOf(url, host.String, port.String)})
		}
		return dbs, rows.Err()
	})
}

// addressOf fills a URL in. An IPv6 address stands in brackets.
func addressOf(url, host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return strings.NewReplacer("{host}", host, "{port}", port).Replace(url)
}
