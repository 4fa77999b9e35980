// Package driverr reads what databases say in drivers' errors, whichever driver it is. It links none.
package driverr

import (
	"errors"
	"net"
	"reflect"
	"slices"
)

// SQLState returns PostgreSQL's code for an error: pgx and lib/pq have a method for it, bun's pgdriver a
// method for the fields of the server's response. It is empty for errors that the server did not
// send.
func SQLState(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	var fields interface{ Field(k byte) string }
	if errors.As(err, &fields) {
		return fields.Field('C')
	}
	return ""
}

// Remedy returns what helps where no connection was made; empty for other errors.
func Remedy(err error) string {
	var host *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &host):
		return "check the name of the host"
	case errors.As(err, &dial) && dial.Op == "dial":
		return "check that the server runs, and its host and port"
	}
	return ""
}

// Numbers are SQL Server's numbers for the errors that one statement got, from the first to the
// last; none for what the server did not say. The first is the cause: behind a deadlock (1205), say,
// the server reports that the transaction cannot be committed (3998), and the driver's own number is
// that of the last. It has them all in a field All.
func Numbers(err error) (all []int) {
	var own interface{ SQLErrorNumber() int32 }
	if !errors.As(err, &own) {
		return nil
	}
	if v := reflect.Indirect(reflect.ValueOf(own)); v.Kind() == reflect.Struct {
		if list := v.FieldByName("All"); list.IsValid() && list.Kind() == reflect.Slice {
			for i := range list.Len() {
				if e, ok := list.Index(i).Interface().(interface{ SQLErrorNumber() int32 }); ok {
					all = append(all, int(e.SQLErrorNumber()))
				}
			}
		}
	}
	if last := int(own.SQLErrorNumber()); !slices.Contains(all, last) {
		all = append(all, last)
	}
	return all
}

// HasNumber reports whether one of SQL Server's errors has one of the numbers.
func HasNumber(err error, numbers ...int) bool {
	return slices.ContainsFunc(Numbers(err), func(n int) bool { return slices.Contains(numbers, n) })
}

// The result codes of SQLite that say that others use the database.
const (
	sqliteBusy   = 5
	sqliteLocked = 6
)

// Transient reports whether a database ended a transaction because of others that ran beside it, so that
// all of it can be repeated: as the victim of a deadlock, because both cannot have been alone, or because
// a lock was not to be had in time.
func Transient(err error) bool {
	switch SQLState(err) {
	case "40001", "40P01", "55P03":
		return true
	}
	if HasNumber(err, 1205, 1222, 3960, 3961) {
		return true
	}
	code, known := ResultCode(err)
	return known && (code&0xff == sqliteBusy || code&0xff == sqliteLocked)
}
