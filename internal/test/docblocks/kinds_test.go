package docblocks_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/docblocks"
)

// checkedBy says which test checks the blocks of a language. Nothing can be wrong in text, and
// what HTTP says is said by the pages' tests.
var checkedBy = map[string]string{
	"go":      "TestGoBlocks, and that of internal/test/driverstest",
	"sql":     "TestSQLBlocks, and TestDocumentedStatements of sqlserver",
	"json":    "TestJSONBlocks",
	"yaml":    "TestYAMLBlocks of metrics, where there is a parser",
	"console": "TestDocumentedCommands of cmd/pawl",
	"sh":      "TestDocumentedCommands of cmd/pawl",
	"python":  "TestPrograms of internal/test/sdktest", "typescript": "TestPrograms of internal/test/sdktest",
	"":     "",
	"text": "",
	"http": "",
}

// D-238: each block of the documentation is of a language that a test checks, and one that
// cannot be compiled says why.
func TestLanguages(t *testing.T) {
	t.Parallel()
	var left []string
	for _, b := range read(t) {
		if _, known := checkedBy[b.Language]; !known {
			t.Errorf("%s: no test checks blocks of %q", b, b.Language)
		}
		if why, given := b.Attrs["nocompile"]; given {
			left = append(left, b.String()+": "+why)
			if len(strings.Fields(why)) < 2 {
				t.Errorf("%s: nocompile without a reason", b)
			}
		}
	}
	if len(left) > 5 {
		t.Errorf("%d blocks are not compiled, which is more than a handful:\n%s", len(left), strings.Join(left, "\n"))
	}
}

// D-238: JSON blocks parse, one value or one a line.
func TestJSONBlocks(t *testing.T) {
	t.Parallel()
	for _, b := range read(t) {
		if b.Language != "json" {
			continue
		}
		d := json.NewDecoder(strings.NewReader(b.Text))
		for d.More() {
			var v any
			if err := d.Decode(&v); err != nil {
				t.Errorf("%s: %v", b, err)
				break
			}
		}
	}
}

// D-238: statements of the documentation are those of a database as pawl makes it: queries and
// changes of rows are prepared, others run in a transaction that is rolled back.
func TestSQLBlocks(t *testing.T) {
	t.Parallel()
	var do func(statement string) error
	done, last := func() {}, ""
	defer func() { done() }()
	postgres, sqlite := dbtest.OpenPostgres(t), dbtest.OpenSQLite(t)
	schema := strings.TrimSuffix(postgres.Table(""), ".")
	for _, b := range read(t) {
		if b.Language != "sql" {
			continue
		}
		if b.Dialect == "sqlserver" {
			continue // TestDocumentedStatements of the module sqlserver, which has the parser
		}
		if last != b.File+b.Dialect { // the tables of two pages may have the same names
			done()
			last = b.File + b.Dialect
			switch b.Dialect {
			case "", "postgres":
				do, done = onPostgres(t, postgres, schema)
			case "sqlite":
				do, done = onSQLite(t, sqlite)
			default:
				t.Errorf("%s: no test checks %s", b, b.Dialect)
				do, done, last = nil, func() {}, ""
				continue
			}
		}
		for _, statement := range docblocks.Statements(b.Text) {
			if err := do(statement); err != nil {
				t.Errorf("%s: %v\n%s", b, err, statement)
			}
		}
	}
}

var (
	prepared = regexp.MustCompile(`(?is)^(\s*--[^\n]*\n)*\s*(SELECT|INSERT|UPDATE|DELETE|WITH|VALUES|CALL)\b`)
	ends     = regexp.MustCompile(`(?is)^(\s*--[^\n]*\n)*\s*(BEGIN|COMMIT|ROLLBACK|START TRANSACTION)\b`)
	// The variables of psql and of guides: :owner, :"role"; not casts.
	role     = regexp.MustCompile(`:"\w+"`)
	variable = regexp.MustCompile(`(^|[^:\w])(:)([a-z_]\w*)`)
)

// onPostgres returns what checks the statements of a page, one after the other: all of them in
// a transaction.
func onPostgres(t *testing.T, d dbtest.Database, schema string) (do func(string) error, done func()) {
	t.Helper()
	tx := begin(t, d)
	return func(statement string) error {
		if ends.MatchString(statement) {
			return nil
		}
		statement = strings.NewReplacer("pawl.", schema+".", "SCHEMA pawl", "SCHEMA "+schema).Replace(statement)
		statement = role.ReplaceAllString(statement, "CURRENT_USER")
		if !prepared.MatchString(statement) {
			return within(t.Context(), tx, func() error { _, err := tx.ExecContext(t.Context(), statement); return err })
		}
		numbers := map[string]string{}
		statement = variable.ReplaceAllStringFunc(statement, func(m string) string {
			part := variable.FindStringSubmatch(m)
			if numbers[part[3]] == "" {
				numbers[part[3]] = "$" + string(rune('1'+len(numbers)))
			}
			return part[1] + numbers[part[3]]
		})
		return within(t.Context(), tx, func() error {
			s, err := tx.PrepareContext(t.Context(), statement)
			if err != nil {
				return err
			}
			defer s.Close()
			return nil
		})
	}, func() { _ = tx.Rollback() }
}

// onSQLite is the same for SQLite, where preparing a statement resolves its names, too.
func onSQLite(t *testing.T, d dbtest.Database) (do func(string) error, done func()) {
	t.Helper()
	tx := begin(t, d)
	return func(statement string) error {
		if ends.MatchString(statement) {
			return nil
		}
		if prepared.MatchString(statement) {
			statement = "EXPLAIN " + variable.ReplaceAllString(statement, "${1}NULL")
		}
		_, err := tx.ExecContext(t.Context(), statement)
		return err
	}, func() { _ = tx.Rollback() }
}

func begin(t *testing.T, d dbtest.Database) *sql.Tx {
	t.Helper()
	tx, err := d.SQL.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "CREATE TEMPORARY TABLE orders (number bigint PRIMARY KEY, email text)"); err != nil {
		t.Fatal(err)
	}
	return tx
}

// within keeps a transaction usable after a statement that fails.
func within(ctx context.Context, tx *sql.Tx, do func() error) error {
	if _, err := tx.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return err
	}
	err := do()
	if err != nil {
		if _, back := tx.ExecContext(ctx, "ROLLBACK TO one"); back != nil {
			return back
		}
	}
	return err
}
