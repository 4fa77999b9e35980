package dbtest

// Engines are those that every suite runs on. "make test-sqlserver" builds with another file
// in the place of this one, sqlserver/testdata/suites/dbtest/engines.go, which adds SQL Server:
// its engine is a module of its own, which this one does not know.
func Engines() []Engine { return []Engine{{"sqlite", OpenSQLite}, {"postgres", OpenPostgres}} }
