package engine

import (
	"context"
	"reflect"
	"strings"
	"unicode"
)

// Operation is a call that a component makes of a database: a struct of package op, whose
// fields are the parameters. Its type determines its name: op.OutboxClaimAny is
// "outbox/claim_any", and its statement the file outbox/claim_any.sql, in which @lease
// stands for the field Lease. The type that it embeds determines its result: [Changes],
// [Number] or [Rows].
type Operation interface{ answer() reflect.Type }

// Changes is embedded by an operation that returns how many rows it changed. It can run in
// a caller's transaction.
type Changes struct{}

// Number is embedded by an operation that returns one number.
type Number struct{}

// Rows is embedded by an operation that returns rows of T: its fields are the columns, in
// this order, and columns have their names in snake case. An embedded struct stands for its
// fields.
type Rows[T any] struct{}

// Bounded is embedded by an operation that reads a bounded part of tables that may be large, whatever
// the planner knows of these: an engine whose planner may choose to read them whole pins its plans.
type Bounded struct{}

// ReadsBounded marks the operation.
func (Bounded) ReadsBounded() {}

func (Changes) answer() reflect.Type { return nil }
func (Number) answer() reflect.Type  { return reflect.TypeFor[int64]() }
func (Rows[T]) answer() reflect.Type { return reflect.TypeFor[T]() }
func (Rows[T]) row() (row T)         { return row }

// Answering is an operation that returns rows of T.
type Answering[T any] interface {
	Operation
	row() T
}

// NameOf returns an operation's name, "outbox/claim".
func NameOf(op Operation) string {
	folder, name, _ := strings.Cut(snake(reflect.TypeOf(op).Name()), "_")
	return folder + "/" + name
}

// snake converts a Go name to snake case: MessageIDs is message_ids.
func snake(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if unicode.IsUpper(c) && i > 0 && (unicode.IsLower(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1]) && !plural(r, i+1)) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// plural reports whether the letter at i is the s after an abbreviation, as in IDs.
func plural(r []rune, i int) bool {
	return r[i] == 's' && (i+1 == len(r) || unicode.IsUpper(r[i+1]))
}

// Ask returns a call of an operation; its result, a number or how many rows it changed, is
// the call's N.
func Ask(op Operation) *Call {
	c := &Call{Operation: op}
	if isNumber(op.answer()) {
		c.Each = func(r Row) error { return r.Scan(&c.N) }
	}
	return c
}

// ReturnsRows reports whether an operation returns rows, not a number.
func ReturnsRows(op Operation) bool {
	answer := op.answer()
	return answer != nil && !isNumber(answer)
}

// isNumber reports whether a result is one number.
func isNumber(answer reflect.Type) bool { return answer == reflect.TypeFor[int64]() }

// Each returns a call that passes every row of its result to f, with the columns that could
// be read and the error of the others. The row is valid until f returns.
func Each[T any](op Answering[T], f func(row *T, unread error) error) *Call {
	return &Call{Operation: op, Each: Scan(f)}
}

// Scan returns a function that reads the rows of a Call into a T and passes them to f.
func Scan[T any](f func(row *T, unread error) error) func(Row) error {
	row := new(T)
	dest := columnPointers(reflect.ValueOf(row).Elem(), nil)
	return func(r Row) error {
		*row = *new(T)
		return f(row, r.Scan(dest...))
	}
}

// List returns a call whose rows are appended to all.
func List[T any](op Answering[T], all *[]T) *Call {
	c := Each(op, func(row *T, unread error) error {
		*all = append(*all, *row)
		return unread
	})
	c.Reset = func() { *all = nil }
	return c
}

// ListAs returns a call that appends to all what of makes of each row, or fails with its error. unread
// is why some columns could not be read.
func ListAs[T, I any](op Answering[T], all *[]I, of func(row *T, unread error) (I, error)) *Call {
	c := Each(op, func(row *T, unread error) error {
		item, err := of(row, unread)
		if err == nil {
			*all = append(*all, item)
		}
		return err
	})
	c.Reset = func() { *all = nil }
	return c
}

// One returns a call whose result has at most one row, which is stored in row; N is how many
// there were.
func One[T any](op Answering[T], row *T) *Call {
	var c *Call
	c = Each(op, func(r *T, unread error) error {
		*row = *r
		c.N = 1
		return unread
	})
	c.Reset = func() { *row = *new(T) }
	return c
}

// Query reads the rows of an operation that changes nothing.
func Query[T any](ctx context.Context, db DB, op Answering[T]) (all []T, err error) {
	err = db.Read(ctx, List(op, &all))
	return all, err
}

// QueryAs is Query for rows that are to be converted; see [ListAs].
func QueryAs[T, I any](ctx context.Context, db DB, op Answering[T], of func(row *T, unread error) (I, error)) (all []I, err error) {
	err = db.Read(ctx, ListAs(op, &all, of))
	return all, err
}

// Get reads one row; found is false if there is none.
func Get[T any](ctx context.Context, db DB, op Answering[T]) (row T, found bool, err error) {
	c := One(op, &row)
	err = db.Read(ctx, c)
	return row, c.N > 0, err
}

// Exec runs an operation in the caller's transaction or, where tx is nil, in one of its own,
// and returns the number that the operation returns.
func Exec(ctx context.Context, db DB, tx Tx, op Operation) (int64, error) {
	c := Ask(op)
	err := Run(ctx, db, tx, c)
	return c.N, err
}

// columnPointers returns pointers to the fields of a struct that are columns.
func columnPointers(v reflect.Value, dest []any) []any {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Anonymous {
			dest = columnPointers(v.Field(i), dest)
		} else if f.IsExported() {
			dest = append(dest, v.Field(i).Addr().Interface())
		}
	}
	return dest
}
