package engine

import (
	"context"
	"slices"
	"strings"
)

// Role is a set of rights on pawl's tables and routines, for one kind of program or person;
// docs/security.md lists them.
type Role string

// The roles.
const (
	// RoleProducer enqueues, schedules, and starts joins. It cannot read payloads.
	RoleProducer Role = "producer"
	// RoleWorker does everything that pawl.Run and the components do.
	RoleWorker Role = "worker"
	// RoleOperator reads everything and runs the commands for operators. It does not claim or
	// settle.
	RoleOperator Role = "operator"
	// RoleViewer reads everything, payloads included.
	RoleViewer Role = "viewer"
	// RoleMigrator owns the schema and pawl's objects in it. There is one.
	RoleMigrator Role = "migrator"
)

// Grant gives a role to a user.
type Grant struct {
	Role Role
	To   string // the name of a user or role of the database
}

// Granter is a database whose server has users with rights.
type Granter interface {
	// Roles returns the roles that the engine has.
	Roles() []Role
	// Grant gives roles to users in one transaction. It adds rights and revokes none, except
	// for RoleMigrator, which takes the ownership from its former owner. Repeat it after every
	// Migrate: it adds what new tables and routines need.
	//
	// It returns ErrInvalid for an invalid role or user, and otherwise the server's error, as
	// for a user that does not exist or whose rights the caller may not change.
	Grant(ctx context.Context, grants ...Grant) error
}

// CheckGrants returns an error for a role that is not one of roles, and for a user without a
// name or with one longer than maxUser.
func CheckGrants(grants []Grant, roles []Role, maxUser int) error {
	for _, g := range grants {
		if !slices.Contains(roles, g.Role) {
			return Invalid("role", "not one of %v", roles)
		}
		if err := CheckText("user", g.To, maxUser, true); err != nil {
			return err
		}
		if strings.EqualFold(g.To, "public") {
			return Invalid("user", "public is everybody")
		}
	}
	return nil
}
