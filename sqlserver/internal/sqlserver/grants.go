package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

const (
	grantOp = "grant"
	maxUser = 128
	// roleMark stands for the user: a variable of sqlcmd, so that the files are scripts.
	roleMark = "[$(role)]"
	// allObjects ends with what the rights to see definitions are on; it is of others in
	// the schema, too, where there is a prefix.
	allObjects = "GRANT VIEW DEFINITION ON SCHEMA::pawl TO " + roleMark + ";"
)

var _ engine.Granter = (*DB)(nil)

// Roles returns all roles. There is no migrator: whoever migrates owns what it creates.
func (db *DB) Roles() []engine.Role {
	return []engine.Role{engine.RoleProducer, engine.RoleWorker, engine.RoleOperator, engine.RoleViewer}
}

// Grant gives roles to users; see engine.Granter. A procedure or view that a migration changed
// was created again, without the rights on its predecessor.
func (db *DB) Grant(ctx context.Context, grants ...engine.Grant) error {
	if err := engine.CheckGrants(grants, db.Roles(), maxUser); err != nil {
		return err
	}
	return db.inMigration(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, g := range grants {
			text, err := db.grant(g)
			if err != nil {
				return err
			}
			if err := db.script(ctx, tx, text); err != nil {
				return fmt.Errorf("%s: %w", g.Role, err)
			}
		}
		return nil
	})
}

// grant returns the statements that give a role to a user.
func (db *DB) grant(g engine.Grant) (string, error) {
	text, err := files.ReadFile("grants/" + string(g.Role) + ".sql")
	if err != nil {
		return "", err
	}
	all := strings.Replace(allObjects, "SCHEMA::pawl", "SCHEMA::"+quoteName(db.opts.Schema), 1)
	if db.opts.Prefix != "" {
		var each []string
		for _, o := range expectedObjects(db.folder) {
			name := db.folder.Names.Quote(strings.TrimPrefix(o.Name, db.opts.Prefix))
			switch o.Kind {
			case "table", "sequence", "view", "routine":
				each = append(each, "GRANT VIEW DEFINITION ON "+name+" TO "+roleMark+";")
			case "type":
				each = append(each, "GRANT VIEW DEFINITION ON TYPE::"+name+" TO "+roleMark+";")
			}
		}
		all = strings.Join(each, "\n")
	}
	rendered := db.folder.Names.Render(strings.Replace(string(text), allObjects, "", 1))
	if strings.Contains(string(text), allObjects) {
		rendered += "\n" + all
	}
	return strings.ReplaceAll(rendered, roleMark, quoteName(g.To)), nil
}
