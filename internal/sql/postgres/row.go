package postgres

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// row is a row of a result. Unlike pgx's own it stays readable after a column that cannot be
// read, and so do the rows after it: one that another program wrote must not hide others
// (D-9).
type row struct {
	rows  pgx.Rows
	plans []pgtype.ScanPlan
	types []reflect.Type
}

// Scan copies the columns into dest, as far as they can be converted.
func (r *row) Scan(dest ...any) error {
	values := r.rows.RawValues()
	if len(dest) != len(values) {
		return fmt.Errorf("postgres: scan %d columns into %d", len(values), len(dest))
	}
	if r.plans == nil {
		r.plans, r.types = make([]pgtype.ScanPlan, len(dest)), make([]reflect.Type, len(dest))
	}
	var faults error
	for i, d := range dest {
		if t := reflect.TypeOf(d); r.types[i] != t {
			f := r.rows.FieldDescriptions()[i]
			r.plans[i], r.types[i] = r.rows.Conn().TypeMap().PlanScan(f.DataTypeOID, f.Format, d), t
		}
		if err := r.plans[i].Scan(values[i], d); err != nil {
			faults = errors.Join(faults, fmt.Errorf("column %s: %w", r.rows.FieldDescriptions()[i].Name, err))
		}
	}
	return faults
}

// scanLast copies the last columns into dest.
func (r *row) scanLast(dest ...any) (err error) {
	fields, values := r.rows.FieldDescriptions(), r.rows.RawValues()
	for i, d := range dest {
		k := len(values) - len(dest) + i
		err = errors.Join(err, r.rows.Conn().TypeMap().Scan(fields[k].DataTypeOID, fields[k].Format, values[k], d))
	}
	return err
}
