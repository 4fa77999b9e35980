package sqlserver

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

var _ engine.Migrator = (*DB)(nil)

// settings are those of drivers; sqlcmd begins without them, so that it takes quoted names for
// texts.
const settings = "SET ANSI_NULLS, QUOTED_IDENTIFIER ON;\nGO\n"

// Script returns the script from one version of the schema to another; see engine.Migrator.
// Its batches end with GO, for sqlcmd and most other tools. It does not use the database.
func (db *DB) Script(from, to int) (string, error) {
	folder := db.folder
	return folder.Script(from, to, engine.Dialect{
		First: settings + fmt.Sprintf(createSchema, folder.Names.Schema) + "\nGO\n" + folder.Names.Render(makeTypes),
		Begin: folder.Names.Render(historyTable),
		End:   "\nGO",
		Drop:  func(o engine.Object) string { return dropOf(folder.Names, o.Name) },
		Note:  func(m engine.Migration) string { return noteOf(folder, &m) },
		Made:  func(o engine.Object) string { return madeOf(folder.Names, &o) },
	})
}

// Baseline records a schema that was created by hand; see engine.Migrator.
func (db *DB) Baseline(ctx context.Context) error {
	status, err := db.SchemaStatus(ctx)
	if err != nil || status.Database > 0 {
		return cmp.Or(err, status.Err)
	}
	findings, err := (&examiner{DB: db}).differences(ctx)
	if err = cmp.Or(err, engine.SchemaDifference(findings)); err != nil {
		return err
	}
	return db.inMigration(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := db.script(ctx, tx, db.folder.Names.Render(historyTable)); err != nil {
			return err
		}
		have, err := db.schema(ctx, tx)
		if err != nil || len(have.Applied) > 0 { // another process did it
			return err
		}
		var notes []string
		for i := range db.folder.Migrations {
			notes = append(notes, db.note(&db.folder.Migrations[i]))
		}
		for i := range db.folder.Objects {
			notes = append(notes, madeOf(db.folder.Names, &db.folder.Objects[i]))
		}
		notes = append(notes, db.folder.Statement(op.GenerationRestored{}).Text)
		return db.script(ctx, tx, strings.Join(notes, ";\n"))
	})
}
