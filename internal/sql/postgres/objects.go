package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	objectRead   = `SELECT kind, name, checksum FROM pawl.pawl_object ORDER BY kind, name`
	objectForget = `DELETE FROM pawl.pawl_object o USING unnest($1::text[], $2::text[]) g(kind, name) WHERE o.kind = g.kind AND o.name = g.name`
	objectInsert = `INSERT INTO pawl.pawl_object AS o (kind, name, checksum) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
ON CONFLICT (kind, name) DO UPDATE SET checksum = excluded.checksum, applied_at = clock_timestamp()`
	// Functions by name, and the version of each row of the catalog: a replaced one has
	// another.
	functionsNamed = `SELECT p.oid::regprocedure::text, p.xmin::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND p.proname = ANY ($2)`
)

// applyObjects creates the routines and views whose text was not applied to the database yet,
// and drops those that this build does not have. They are replaced in place, so that grants
// on them stay; only where PostgreSQL cannot do that (other result columns) are they dropped
// and created.
func (db *DB) applyObjects(ctx context.Context, tx pgx.Tx, plan engine.Plan, first bool) error {
	apply, drop := plan.Apply, plan.Drop
	if len(apply)+len(drop) == 0 {
		return nil
	}
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return db.replaceObjects(ctx, tx, apply, drop, first) })
	if cannotReplace(err) {
		err = db.remakeObjects(ctx, tx, apply, drop)
	}
	if err != nil {
		return err
	}
	return db.recordObjects(ctx, tx, apply, drop)
}

// replaceObjects replaces objects in place. A routine of a changed name that was not replaced
// is then one with the former parameters, and is dropped.
func (db *DB) replaceObjects(ctx context.Context, tx pgx.Tx, apply []engine.Object, drop []engine.AppliedObject, first bool) error {
	if first {
		return script(ctx, tx, db.texts(apply)) // there is nothing to compare with
	}
	before, err := db.functions(ctx, tx, apply, nil)
	if err != nil {
		return err
	}
	if err := script(ctx, tx, db.texts(apply)); err != nil {
		return err
	}
	after, err := db.functions(ctx, tx, apply, nil)
	if err != nil {
		return err
	}
	gone, err := db.functions(ctx, tx, nil, drop)
	if err != nil {
		return err
	}
	text := db.dropViews(drop)
	for _, f := range before {
		if slices.Contains(after, f) {
			gone = append(gone, f)
		}
	}
	return script(ctx, tx, text+dropFunctions(gone))
}

// remakeObjects drops all views and the changed routines, and creates them again.
func (db *DB) remakeObjects(ctx context.Context, tx pgx.Tx, apply []engine.Object, drop []engine.AppliedObject) error {
	gone, err := db.functions(ctx, tx, apply, drop)
	if err != nil {
		return err
	}
	var views []engine.Object
	for _, o := range db.folder.Objects {
		if o.Kind == engine.Views {
			views = append(views, o)
		}
	}
	drops := drop
	for _, v := range slices.Backward(views) {
		drops = append(drops, engine.AppliedObject{Kind: v.Kind, Name: v.Name})
	}
	routines := slices.DeleteFunc(slices.Clone(apply), func(o engine.Object) bool { return o.Kind == engine.Views })
	return script(ctx, tx, db.dropViews(drops)+dropFunctions(gone)+db.texts(append(routines, views...)))
}

func (db *DB) recordObjects(ctx context.Context, tx pgx.Tx, apply []engine.Object, drop []engine.AppliedObject) error {
	var kinds, names, sums []string
	for _, o := range drop {
		kinds, names = append(kinds, o.Kind), append(names, o.Name)
	}
	if _, err := tx.Exec(ctx, db.folder.Names.Render(objectForget), kinds, names); err != nil {
		return err
	}
	kinds, names = nil, nil
	for _, o := range apply {
		kinds, names, sums = append(kinds, o.Kind), append(names, o.Name), append(sums, o.Checksum)
	}
	_, err := tx.Exec(ctx, db.folder.Names.Render(objectInsert), kinds, names, sums)
	return err
}

// functionVersion is a function as DROP FUNCTION names it, and the version of its row.
type functionVersion struct{ Signature, Version string }

// functions lists these routines as they are in the database, all overloads.
func (db *DB) functions(ctx context.Context, tx pgx.Tx, apply []engine.Object, drop []engine.AppliedObject) ([]functionVersion, error) {
	var names []string
	for _, o := range apply {
		if o.Kind == engine.Routines {
			names = append(names, db.opts.Prefix+o.Name)
		}
	}
	for _, o := range drop {
		if o.Kind == engine.Routines {
			names = append(names, db.opts.Prefix+o.Name)
		}
	}
	rows, err := tx.Query(ctx, functionsNamed, db.opts.Schema, names)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[functionVersion])
}

func (db *DB) texts(objects []engine.Object) string {
	var text strings.Builder
	for _, o := range objects {
		text.WriteString(db.folder.Names.Render(o.Text) + "\n")
	}
	return text.String()
}

func (db *DB) dropViews(gone []engine.AppliedObject) string {
	var text strings.Builder
	for _, o := range gone {
		if o.Kind == engine.Views {
			fmt.Fprintf(&text, "DROP VIEW IF EXISTS %s;\n", db.folder.Names.Quote(o.Name))
		}
	}
	return text.String()
}

func dropFunctions(gone []functionVersion) string {
	var text strings.Builder
	for _, f := range gone {
		fmt.Fprintf(&text, "DROP FUNCTION %s;\n", f.Signature)
	}
	return text.String()
}

// cannotReplace reports whether an object has to be dropped before it can be created: its
// result columns or parameter names changed, or others depend on it.
func cannotReplace(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && slices.Contains([]string{"42P13", "42P16", "2BP01"}, e.Code)
}
