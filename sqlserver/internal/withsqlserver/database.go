package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"time"

	_ "github.com/microsoft/go-mssqldb" // the driver "sqlserver"
)

// setting is how a database is made.
type setting struct{ name, collation, versioned string }

// settings are those of the workflow's matrix: row versions or locks, and collations by which other names are equal.
func settings() []setting {
	const usual = "SQL_Latin1_General_CP1_CI_AS"
	return []setting{
		{"rcsi-on", usual, "ON"}, {"rcsi-off", usual, "OFF"}, {"turkish", "Turkish_CI_AS", "ON"}, {"bin2", "Latin1_General_100_BIN2", "ON"},
	}
}

func settingNames() (all []string) {
	for _, s := range settings() {
		all = append(all, s.name)
	}
	return all
}

// database makes the database of a setting, where it is missing, and returns its URL.
func database(ctx context.Context, server, name string) (string, error) {
	for _, s := range settings() {
		if s.name != name {
			continue
		}
		own := "pawl_test_" + strings.ReplaceAll(name, "-", "_")
		err := with(ctx, server, func(db *sql.DB) error {
			for _, text := range []string{
				fmt.Sprintf("IF DB_ID(N'%[1]s') IS NULL CREATE DATABASE %[1]s COLLATE %[2]s", own, s.collation),
				fmt.Sprintf("ALTER DATABASE %s SET READ_COMMITTED_SNAPSHOT %s WITH ROLLBACK IMMEDIATE", own, s.versioned),
			} {
				if _, err := db.ExecContext(ctx, text); err != nil {
					return fmt.Errorf("%s: %w", text, err)
				}
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		return named(server, own)
	}
	return server, nil
}

// named returns a server's URL with another database.
func named(server, database string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("%s is no URL", variable) // the error would quote the password
	}
	q := u.Query()
	q.Set("database", database)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// reachTimeout bounds every attempt to talk to the server.
const reachTimeout = time.Minute

// with opens a server for a function.
func with(ctx context.Context, server string, f func(db *sql.DB) error) error {
	db, err := sql.Open("sqlserver", server)
	if err != nil {
		return fmt.Errorf("%s is not understood", variable)
	}
	defer func() { _ = db.Close() }()
	return f(db)
}

const serverIs = `SELECT CAST(SERVERPROPERTY(N'ProductVersion') AS nvarchar(128)), CAST(SERVERPROPERTY(N'EngineEdition') AS int), @@VERSION,
  d.is_read_committed_snapshot_on, CAST(d.collation_name AS nvarchar(128)) FROM sys.databases d WHERE d.name = DB_NAME()`

// describeServer returns version and setting of a database, as evidence has them.
func describeServer(ctx context.Context, server string) (is string, err error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	err = with(ctx, server, func(db *sql.DB) error {
		var number, product, collation string
		var edition int
		var versioned bool
		if err := db.QueryRowContext(ctx, serverIs).Scan(&number, &edition, &product, &versioned, &collation); err != nil {
			return err
		}
		is = versionOf(number, edition, product) + " | READ_COMMITTED_SNAPSHOT " + map[bool]string{true: "on", false: "off"}[versioned]
		if collation != settings()[0].collation {
			is += ", " + collation
		}
		return nil
	})
	return is, err
}

// versionOf is the year of a version; what only acts as SQL Server is called by its own name, which is no evidence.
func versionOf(number string, edition int, product string) string {
	major, _, _ := strings.Cut(number, ".")
	year := map[string]string{"13": "2016", "14": "2017", "15": "2019", "16": "2022", "17": "2025"}[major]
	switch {
	case !strings.HasPrefix(product, "Microsoft SQL") || strings.Contains(product, "Babelfish"):
		return "an emulator"
	case edition == 5 || edition == 8:
		return "Azure SQL"
	case year == "":
		return "version " + major
	}
	return year
}
