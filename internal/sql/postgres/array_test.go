package postgres_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
)

// OBX-100: drivers without support for arrays get PostgreSQL's literals.
func TestArraysForAnyDriver(t *testing.T) {
	text := "a"
	at := time.Date(2026, 11, 22, 13, 0, 0, 123456000, time.FixedZone("", 3600))
	for _, c := range []struct {
		arg  any
		want driver.Value
	}{
		{[]int64{1, -2}, "{1,-2}"},
		{[]int64{}, "{}"},
		{[]int64(nil), nil},
		{[]bool{true, false}, "{true,false}"},
		{[]string{"", "NULL", `q"u\o,{}'`}, `{"","NULL","q\"u\\o,{}'"}`},
		{[]*string{&text, nil}, `{"a",NULL}`},
		{[][]byte{{0, 255}, {}, nil}, `{"\\x00ff","\\x",NULL}`},
		{[]*time.Time{&at, nil}, `{"2026-11-22 12:00:00.123456Z",NULL}`},
		{[][16]byte{{15: 1}}, "{00000000-0000-0000-0000-000000000001}"},
	} {
		v, ok := postgres.Portable(c.arg).(driver.Valuer)
		if !ok {
			t.Errorf("%T is no driver.Valuer", c.arg)
			continue
		}
		if got, err := v.Value(); err != nil || got != c.want {
			t.Errorf("%v: %v, want %v, error %v", c.arg, got, c.want, err)
		}
	}
}

// Errors as drivers make them. The drivers themselves are tested in internal/test/driverstest.
type (
	withState  string // pgx, lib/pq
	withFields string // bun's pgdriver
)

func (e withState) Error() string  { return "refused: secret" }
func (e withFields) Error() string { return "refused: secret" }

func (e withState) SQLState() string { return string(e) }

func (e withFields) Field(k byte) string {
	if k == 'C' {
		return string(e)
	}
	return "secret"
}

// OBX-099, D-5: an error means the same whichever driver reports it, and quotes no
// argument.
func TestErrorsOfAllDrivers(t *testing.T) {
	for code, want := range map[string]error{
		"23505": engine.ErrUnique, "40001": engine.ErrSerialization, "40P01": engine.ErrDeadlock, "57P01": engine.ErrConnLost, "08006": engine.ErrConnLost,
		"57014": engine.ErrTimeout, "22P02": nil,
	} {
		for _, err := range []error{withState(code), withFields(code), fmt.Errorf("exec: %w", withFields(code))} {
			got := postgres.Wrap("op", err)
			if want != nil && !errors.Is(got, want) {
				t.Errorf("%T %s is %v, want %v", err, code, got, want)
			}
			if code == "22P02" && got.Error() != "op: a value is not acceptable (SQLSTATE 22P02)" {
				t.Errorf("%T %s: %v", err, code, got)
			}
		}
	}
}
