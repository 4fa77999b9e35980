package tsqltest

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"
)

// Table is a table that a text creates.
type Table struct {
	Name string
	// Clustered are the columns of the key in whose order the rows lie; none for a heap.
	Clustered []KeyColumn
}

// KeyColumn is a column of a key.
type KeyColumn struct {
	Name, Type string // the type in lower case, without its length
	Descending bool
}

// Tables are the tables that a text creates.
func Tables(script *ast.Script) (all []Table) {
	Walk(script, func(n any) {
		if c, ok := n.(*ast.CreateTableStatement); ok {
			all = append(all, Table{nameOf(c.SchemaObjectName), clusteredKey(c.Definition)})
		}
	})
	return all
}

// clusteredKey finds the clustered key of a table: a primary key is one unless it says
// otherwise.
func clusteredKey(d *ast.TableDefinition) []KeyColumn {
	types := map[string]string{}
	for _, c := range d.ColumnDefinitions {
		types[strings.ToLower(c.ColumnIdentifier.Value)] = typeOf(c.DataType)
	}
	for _, c := range d.ColumnDefinitions {
		for _, k := range c.Constraints {
			if u, ok := k.(*ast.UniqueConstraintDefinition); ok && isClustered(u) {
				return []KeyColumn{{Name: c.ColumnIdentifier.Value, Type: typeOf(c.DataType)}}
			}
		}
	}
	for _, k := range d.TableConstraints {
		if u, ok := k.(*ast.UniqueConstraintDefinition); ok && isClustered(u) {
			return keyColumns(u.Columns, types)
		}
	}
	for _, i := range d.Indexes {
		if i.IndexType != nil && i.IndexType.IndexTypeKind == clustered {
			return keyColumns(i.Columns, types)
		}
	}
	return nil
}

const clustered = "Clustered"

func isClustered(u *ast.UniqueConstraintDefinition) bool {
	if u.IndexType == nil || u.IndexType.IndexTypeKind == "" {
		return u.Clustered || u.IsPrimaryKey
	}
	return u.IndexType.IndexTypeKind == clustered
}

func keyColumns(columns []*ast.ColumnWithSortOrder, types map[string]string) (key []KeyColumn) {
	for _, c := range columns {
		ids := c.Column.MultiPartIdentifier.Identifiers
		name := ids[len(ids)-1].Value
		key = append(key, KeyColumn{name, types[strings.ToLower(name)], c.SortOrder == ast.SortOrderDescending})
	}
	return key
}

func typeOf(d ast.DataTypeReference) (name string) {
	if t, ok := d.(*ast.SqlDataTypeReference); ok {
		name = nameOf(t.Name)
	}
	return strings.ToLower(name)
}
