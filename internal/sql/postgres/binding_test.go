package postgres_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// OBX-112: every statement is one that the server understands, and answers with what its operation declares.
func TestStatementsFitTheServer(t *testing.T) {
	db := dbtest.OpenPostgres(t).DB.(*postgres.DB)
	conn, err := db.Pool().Acquire(t.Context())
	enginetest.Must(t, err)
	defer conn.Release()
	enginetest.Bound(t, postgres.Statements(db), func(s *engine.Statement) (names []string, err error) {
		prepared, err := conn.Conn().PgConn().Prepare(t.Context(), "", s.Text, nil)
		if err != nil {
			return nil, err
		}
		for _, f := range prepared.Fields {
			names = append(names, f.Name)
		}
		return names, nil
	})
}
