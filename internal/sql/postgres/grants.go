package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
)

var _ engine.Granter = (*DB)(nil)

// Roles returns all roles.
func (db *DB) Roles() []engine.Role {
	return []engine.Role{engine.RoleProducer, engine.RoleWorker, engine.RoleOperator, engine.RoleViewer, engine.RoleMigrator}
}

// Grant gives roles to users; see engine.Granter.
func (db *DB) Grant(ctx context.Context, grants ...engine.Grant) error {
	if err := engine.CheckGrants(grants, db.Roles(), maxUser); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	conn, err := db.acquire(ctx, grantOp)
	if err != nil {
		return err
	}
	defer conn.Release()
	return wrap(grantOp, pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if err := db.beginDDL(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, historyLock, db.folder.Names.Schema); err != nil {
			return err
		}
		for _, g := range grants {
			text, err := db.grant(ctx, tx, g)
			if err != nil {
				return err
			}
			if err := script(ctx, tx, text); err != nil {
				return fmt.Errorf("%s: %w", g.Role, err)
			}
		}
		return nil
	}), engine.ErrCommitUnknown)
}

const (
	grantOp = "grant"
	maxUser = 63

	allRoutines = `SELECT coalesce(string_agg(p.oid::regprocedure::text, ', '), '') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE n.nspname = $1 AND starts_with(p.proname::text, $2)`
	// The objects of pawl's in the schema, as ALTER … OWNER names them. Indexes, identity
	// columns and the types of rows go with their tables.
	ownable = `SELECT 'ALTER ' || CASE c.relkind WHEN 'v' THEN 'VIEW ' WHEN 'S' THEN 'SEQUENCE ' WHEN 'c' THEN 'TYPE ' ELSE 'TABLE ' END || c.oid::regclass::text
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND starts_with(c.relname::text, $2) AND c.relkind IN ('r', 'v', 'S', 'c')
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND c.relkind = 'S')
UNION ALL
SELECT 'ALTER ROUTINE ' || p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE n.nspname = $1 AND starts_with(p.proname::text, $2)`
)

// grant returns the statements that give a role to a user.
func (db *DB) grant(ctx context.Context, tx pgx.Tx, g engine.Grant) (string, error) {
	user := pgx.Identifier{g.To}.Sanitize()
	if g.Role == engine.RoleMigrator {
		return db.own(ctx, tx, user)
	}
	text, err := files.ReadFile("grants/" + string(g.Role) + ".sql")
	if err != nil {
		return "", err
	}
	var routines string
	if err := tx.QueryRow(ctx, allRoutines, db.opts.Schema, db.opts.Prefix).Scan(&routines); err != nil {
		return "", err
	}
	return strings.NewReplacer(
		"ALL ROUTINES IN SCHEMA pawl", "ROUTINE "+routines, // with a prefix, the schema may contain others' routines
		"SCHEMA pawl", "SCHEMA "+pgx.Identifier{db.opts.Schema}.Sanitize(),
		`:"role"`, user,
	).Replace(db.folder.Names.Render(string(text))), nil
}

// own returns the statements that make a user the owner of pawl's objects, and of the schema
// unless it is shared with others: then the user may create in it.
func (db *DB) own(ctx context.Context, tx pgx.Tx, user string) (string, error) {
	rows, err := tx.Query(ctx, ownable, db.opts.Schema, db.opts.Prefix)
	if err != nil {
		return "", err
	}
	statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	schema := pgx.Identifier{db.opts.Schema}.Sanitize()
	var text strings.Builder
	if db.opts.Prefix == "" && db.opts.Schema != "public" {
		fmt.Fprintf(&text, "ALTER SCHEMA %s OWNER TO %s;\n", schema, user)
	} else {
		fmt.Fprintf(&text, "GRANT USAGE, CREATE ON SCHEMA %s TO %s;\n", schema, user)
	}
	for _, s := range statements {
		fmt.Fprintf(&text, "%s OWNER TO %s;\n", s, user)
	}
	return text.String(), nil
}
