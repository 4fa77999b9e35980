package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	objectRead   = `SELECT kind, name, checksum FROM pawl.pawl_object ORDER BY kind, name`
	objectForget = `DELETE FROM pawl.pawl_object WHERE kind = %s AND name = %s`
	objectInsert = `INSERT INTO pawl.pawl_object (kind, name, checksum) VALUES (%s, %s, %s)`
	// dropObject drops what has a name, of whichever kind it is.
	dropObject = `IF OBJECT_ID(%[1]s, N'P') IS NOT NULL DROP PROCEDURE %[2]s;
IF OBJECT_ID(%[1]s, N'FN') IS NOT NULL OR OBJECT_ID(%[1]s, N'IF') IS NOT NULL OR OBJECT_ID(%[1]s, N'TF') IS NOT NULL DROP FUNCTION %[2]s;
IF OBJECT_ID(%[1]s, N'V') IS NOT NULL DROP VIEW %[2]s`
)

// applyObjects creates the procedures, functions and views whose text changed, and drops
// those that this build no longer has. They are dropped and created again, each in a batch
// of its own; first means that there are none. Rights that were granted on one of them have
// to be granted again: see Grant.
func (db *DB) applyObjects(ctx context.Context, tx *sql.Tx, plan engine.Plan, first bool) error {
	n := db.folder.Names
	var drops, notes []string
	for _, o := range plan.Drop {
		drops, notes = append(drops, dropOf(n, o.Name)), append(notes, forgetOf(n, o.Kind, o.Name))
	}
	for i := range plan.Apply {
		o := &plan.Apply[i]
		if !first { // otherwise there is nothing to drop
			drops = append(drops, dropOf(n, o.Name))
		}
		notes = append(notes, madeOf(n, o))
	}
	if err := db.script(ctx, tx, strings.Join(drops, ";\n")); err != nil {
		return fmt.Errorf("drop what changed: %w", err)
	}
	for i := range plan.Apply {
		o := &plan.Apply[i]
		if err := db.script(ctx, tx, db.folder.Names.Render(o.Text)); err != nil {
			return fmt.Errorf("%s/%s: %w", o.Kind, o.Name, err)
		}
	}
	return db.script(ctx, tx, strings.Join(notes, ";\n"))
}

// dropOf returns the statements that drop an object.
func dropOf(n engine.Names, name string) string {
	quoted := n.Quote(name)
	return fmt.Sprintf(dropObject, quoteText(quoted), quoted)
}

func forgetOf(n engine.Names, kind, name string) string {
	return n.Render(fmt.Sprintf(objectForget, quoteText(kind), quoteText(name)))
}

// madeOf returns the statements that record an object as created.
func madeOf(n engine.Names, o *engine.Object) string {
	return strings.Join([]string{forgetOf(n, o.Kind, o.Name), n.Render(fmt.Sprintf(objectInsert, quoteText(o.Kind), quoteText(o.Name), quoteText(o.Checksum)))}, ";\n")
}
