// Package schema is what ent's client is generated from.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Account is a row of the table accounts.
type Account struct{ ent.Schema }

// Fields of the table.
func (Account) Fields() []ent.Field { return []ent.Field{field.Int64("id"), field.Int64("balance")} }
