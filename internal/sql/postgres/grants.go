package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/internal/engine"
)

// Role is a set of privileges on pawl's tables and routines, for one kind of program or
// person; docs/security.md lists them.
type Role string

// The roles.
const (
	// Producer enqueues, schedules, and starts joins. It cannot read payloads.
	Producer Role = "producer"
	// Worker does everything that pawl.Run and the components do.
	Worker Role = "worker"
	// Operator reads everything and runs the commands for operators. It does not claim or
	// settle.
	Operator Role = "operator"
	// Viewer reads everything, payloads included.
	Viewer Role = "viewer"
	// Migrator owns the schema and pawl's objects in it. There is one.
	Migrator Role = "migrator"
)

// Roles returns all roles.
func Roles() []Role { return []Role{Producer, Worker, Operator, Viewer, Migrator} }

// Grant gives a role to a user.
type Grant struct {
	Role Role
	To   string // the name of a PostgreSQL role, as pg_roles has it
}

// Grant gives roles to users in one transaction. It adds privileges and revokes none, except
// for Migrator, which takes the ownership from its former owner. Granting a role again adds
// what newer tables and routines need: repeat it after every Migrate.
//
// It returns engine.ErrInvalid for an invalid role or user, and otherwise the server's error,
// as for a user that does not exist or whose privileges the caller may not change.
func (db *DB) Grant(ctx context.Context, grants ...Grant) error {
	for _, g := range grants {
		if !slices.Contains(Roles(), g.Role) {
			return engine.Invalid("role", "not one of %v", Roles())
		}
		if err := engine.CheckText("user", g.To, maxUser, true); err != nil {
			return err
		}
		if strings.EqualFold(g.To, "public") {
			return engine.Invalid("user", "public is everybody")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, db.opts.StatementTimeout)
	defer cancel()
	conn, err := db.acquire(ctx, grantOp)
	if err != nil {
		return err
	}
	defer conn.Release()
	return wrap(grantOp, pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, safePath); err != nil {
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
func (db *DB) grant(ctx context.Context, tx pgx.Tx, g Grant) (string, error) {
	user := pgx.Identifier{g.To}.Sanitize()
	if g.Role == Migrator {
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
