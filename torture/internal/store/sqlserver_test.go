package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// D-840: what a round asks of a SQL Server, besides what pawl does. No server is at hand: the module sqlserver parses
// this file, and checks it by what servers are known to refuse.
func TestStatementsOnSQLServer(t *testing.T) {
	all := &recorder{}
	s := &Store{SQL: sql.OpenDB(all), place: Place{URL: "sqlserver://u@192.0.2.1", Schema: "pawl"}}
	t.Cleanup(func() { _ = s.SQL.Close() })
	for statement := range strings.SplitSeq(tables, ";\n") {
		if err := s.Exec(t.Context(), s.SQL, statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"produce.go", "work.go", "hold.go", "flows.go"} {
		text, err := os.ReadFile(filepath.Join("../load", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`((?:INSERT INTO|UPDATE) {s}torture_[^`]*)`").FindAllStringSubmatch(string(text), -1) {
			statement := m[1]
			if strings.HasSuffix(statement, "VALUES ") {
				statement += "(?, ?)"
			}
			if err := s.Exec(t.Context(), s.SQL, statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Final(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Left(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ready(t.Context()); err != sql.ErrNoRows {
		t.Fatal(err)
	}
	got := strings.Join(all.statements, "\nGO\n") + "\nGO\n"
	const golden = "testdata/sqlserver.sql"
	if os.Getenv("PAWL_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what is sent; PAWL_UPDATE=1 writes it:\n%s", golden, got)
	}
}

// recorder is a database that writes down what it is asked, and has no rows.
type recorder struct{ statements []string }

func (r *recorder) Connect(context.Context) (driver.Conn, error) { return recording{r}, nil }
func (r *recorder) Driver() driver.Driver                        { return nil }

type recording struct{ *recorder }

func (r recording) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	r.recorder.statements = append(r.recorder.statements, query)
	return driver.ResultNoRows, nil
}

func (r recording) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	r.recorder.statements = append(r.recorder.statements, query)
	return nothing{}, nil
}

func (recording) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (recording) Begin() (driver.Tx, error)           { return nil, driver.ErrSkip }
func (recording) Close() error                        { return nil }

type nothing struct{}

func (nothing) Columns() []string         { return nil }
func (nothing) Close() error              { return nil }
func (nothing) Next([]driver.Value) error { return io.EOF }
