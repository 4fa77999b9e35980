package sqlserver

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/bravellian/pawl/internal/access"
)

// DropSchema drops the database's schema and all that is in it, of whoever it is. Programs cannot call it.
func (db *DB) DropSchema(ctx context.Context, _ access.Key) error {
	return Drop(ctx, db.SQL(), db.opts.Schema)
}

// objects lists what is in a schema, in an order in which it can be dropped.
const objects = `SELECT x.what, x.name FROM (
  SELECT CASE o.type WHEN 'V' THEN 'VIEW' WHEN 'P' THEN 'PROCEDURE' WHEN 'U' THEN 'TABLE' WHEN 'SO' THEN 'SEQUENCE' ELSE 'FUNCTION' END AS what,
         o.name, CASE o.type WHEN 'V' THEN 1 WHEN 'P' THEN 2 WHEN 'U' THEN 5 WHEN 'SO' THEN 6 ELSE 3 END AS place, -o.object_id AS nr
    FROM sys.objects o WHERE o.schema_id = SCHEMA_ID(@p1) AND o.type IN ('V', 'P', 'U', 'SO', 'FN', 'IF', 'TF')
  UNION ALL
  SELECT 'TYPE', t.name, 4, 0 FROM sys.table_types t WHERE t.schema_id = SCHEMA_ID(@p1)) x ORDER BY x.place, x.nr`

// Drop drops a schema and all that is in it, in several passes: tables that others refer to
// go behind those.
func Drop(ctx context.Context, pool *sql.DB, schema string) error {
	for range 5 {
		left, err := drop(ctx, pool, schema)
		if err != nil {
			return err
		}
		if left == 0 {
			_, err = pool.ExecContext(ctx, fmt.Sprintf(`IF SCHEMA_ID(N'%[1]s') IS NOT NULL EXEC (N'DROP SCHEMA "%[1]s"')`, schema))
			return err
		}
	}
	return fmt.Errorf("something in %s cannot be dropped", schema)
}

// drop drops what can be dropped and returns how much cannot.
func drop(ctx context.Context, pool *sql.DB, schema string) (left int, err error) {
	rows, err := pool.QueryContext(ctx, objects, schema)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var drops []string
	for rows.Next() {
		var what, name string
		if err := rows.Scan(&what, &name); err != nil {
			return 0, err
		}
		drops = append(drops, fmt.Sprintf(`DROP %s "%s"."%s"`, what, schema, name))
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	for _, d := range drops {
		if _, err := pool.ExecContext(ctx, d); err != nil {
			left++
		}
	}
	return left, nil
}
