// Package schema is what ent's client is generated from.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Order is the program's own table.
type Order struct{ ent.Schema }

// Fields of the table.
func (Order) Fields() []ent.Field { return []ent.Field{field.Int("id")} }
