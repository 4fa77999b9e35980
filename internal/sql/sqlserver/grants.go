package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// Role is a set of rights on pawl's tables and procedures, for one kind of program or
// person; docs/security.md lists what each may do.
type Role string

// The roles.
const (
	// Producer enqueues, schedules, and starts joins. It executes procedures, and reads no
	// table but what tells of the schema.
	Producer Role = "producer"
	// Worker does everything that pawl.Run and the components do.
	Worker Role = "worker"
	// Operator reads everything and does what the commands for people do. It claims and
	// settles nothing.
	Operator Role = "operator"
	// Viewer reads everything, payloads included.
	Viewer Role = "viewer"
)

// Roles returns all roles. Whoever migrates owns the schema.
func Roles() []Role { return []Role{Producer, Worker, Operator, Viewer} }

// Grant gives a role to a user.
type Grant struct {
	Role Role
	To   string // the name of a user or role of the database
}

const (
	grantOp = "grant"
	maxUser = 128
	// roleMark stands for the user: a variable of sqlcmd, so that the files are scripts.
	roleMark = "[$(role)]"
	// allObjects ends with what the rights to see definitions are on; it is of others in
	// the schema, too, where there is a prefix.
	allObjects = "GRANT VIEW DEFINITION ON SCHEMA::pawl TO " + roleMark + ";"
)

// Grant gives roles to users in one transaction. It adds rights and takes none away. Repeat
// it after every Migrate: a procedure or view that changed is made anew, without the rights
// on its predecessor.
//
// It fails with engine.ErrInvalid for a role or user that cannot be, and otherwise with the
// server's error, as for a user that does not exist or whose rights the caller may not
// change.
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
	return db.inMigration(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, g := range grants {
			text, err := db.grant(g)
			if err != nil {
				return err
			}
			if err := script(ctx, tx, text); err != nil {
				return fmt.Errorf("%s: %w", g.Role, err)
			}
		}
		return nil
	})
}

// grant returns the statements that give a role to a user.
func (db *DB) grant(g Grant) (string, error) {
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
