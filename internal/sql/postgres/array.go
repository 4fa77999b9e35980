package postgres

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// array is an array that every driver can send. pgx sends it in binary, as a
// pgtype.ArrayGetter; others call database/sql's Value, which is PostgreSQL's array literal.
type array[T any] struct{ pgtype.FlatArray[T] }

// Value returns the literal, or nil for an array that is null.
func (a array[T]) Value() (driver.Value, error) {
	if a.FlatArray == nil {
		return nil, nil
	}
	var b strings.Builder
	b.WriteByte('{')
	for i := range a.FlatArray {
		if i > 0 {
			b.WriteByte(',')
		}
		text, err := element(a.FlatArray[i])
		if err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	b.WriteByte('}')
	return b.String(), nil
}

// portable replaces arguments that database/sql cannot convert by arrays.
func portable(args []any) []any {
	for i, a := range args {
		switch a := a.(type) {
		case []int64:
			args[i] = array[int64]{a}
		case []int:
			args[i] = array[int]{a}
		case []bool:
			args[i] = array[bool]{a}
		case []string:
			args[i] = array[string]{a}
		case []*string:
			args[i] = array[*string]{a}
		case [][]byte:
			args[i] = array[[]byte]{a}
		case []*time.Time:
			args[i] = array[*time.Time]{a}
		case []pgtype.UUID:
			args[i] = array[pgtype.UUID]{a}
		}
	}
	return args
}

const null = "NULL"

// element is one element of an array literal.
func element(v any) (string, error) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case int:
		return strconv.Itoa(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case string:
		return quote(v), nil
	case *string:
		if v == nil {
			return null, nil
		}
		return quote(*v), nil
	case []byte:
		if v == nil {
			return null, nil
		}
		return quote(`\x` + hex.EncodeToString(v)), nil
	case *time.Time:
		if v == nil {
			return null, nil
		}
		return quote(v.UTC().Format("2006-01-02 15:04:05.999999Z07:00")), nil
	case pgtype.UUID:
		return v.String(), nil
	}
	return "", fmt.Errorf("an array of %T cannot be sent", v)
}

// quote quotes a text as an element of an array literal.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
