// Package driverr reads what databases say in drivers' errors, whichever driver it is. It links none.
package driverr

import "errors"

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

// Number is SQL Server's number for an error; 0 for what the server did not say.
func Number(err error) int {
	var own interface{ SQLErrorNumber() int32 }
	if errors.As(err, &own) {
		return int(own.SQLErrorNumber())
	}
	return 0
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
	switch Number(err) {
	case 1205, 1222, 3960, 3961:
		return true
	}
	code, known := ResultCode(err)
	return known && (code&0xff == sqliteBusy || code&0xff == sqliteLocked)
}
