package anydriver_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	sqlite "github.com/bravellian/pawl/internal/sql/sqlite/anydriver"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

var returning = regexp.MustCompile(`(?s)RETURNING (.*)$`)

// OBX-112: every statement is one that SQLite understands, and answers with what its operation declares.
func TestStatementsFitTheFile(t *testing.T) {
	db := dbtest.OpenSQLite(t).DB.(*sqlite.DB)
	enginetest.Bound(t, sqlite.Statements(db), func(s *engine.Statement) ([]string, error) {
		none := make([]any, s.Parameters())
		if m := returning.FindStringSubmatch(s.Text); m != nil {
			_, err := db.SQL().ExecContext(t.Context(), "EXPLAIN "+s.Text, none...)
			return strings.Split(m[1], ", "), err
		}
		if s.Counts() && sqlite.Answered(db, s) { // the number is how many rows it changes
			_, err := db.SQL().ExecContext(t.Context(), "EXPLAIN "+s.Text, none...)
			return []string{"n"}, err
		}
		query := "EXPLAIN " + s.Text
		if s.Columns() != nil || s.Counts() {
			query = fmt.Sprintf("SELECT * FROM (%s) LIMIT 0", s.Text)
		}
		rows, err := db.SQL().QueryContext(t.Context(), query, none...)
		if err != nil {
			return nil, err
		}
		defer func() { _ = rows.Close() }()
		names, err := rows.Columns()
		return names, errors.Join(err, rows.Err())
	})
}
