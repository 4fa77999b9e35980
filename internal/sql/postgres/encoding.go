package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

// Texts of Go, and so pawl's, are UTF-8. A server converts them to the encoding of the database if
// the connection says so when it begins, and without that takes them for texts in the database's
// own. Both are reported when a connection is made, and cost no round trip.
const (
	clientEncoding = "client_encoding"
	serverEncoding = "server_encoding"
	utf8           = "UTF8"
	// sqlASCII is no encoding: the server converts nothing and stores any bytes.
	sqlASCII = "SQL_ASCII"
)

// sayUTF8 makes connections say that their texts are UTF-8.
func sayUTF8(c *pgx.ConnConfig) { c.RuntimeParams[clientEncoding] = utf8 }

// checkEncoding returns an error for a connection whose texts the server takes for others than
// UTF-8, as one of the program's own pool may be. A pooler that does not report it is trusted.
func (db *DB) checkEncoding(conn *pgconn.PgConn) error {
	db.encoding.Store(conn.ParameterStatus(serverEncoding))
	return refuseEncoding(conn.ParameterStatus(clientEncoding))
}

func refuseEncoding(is string) error {
	if is == "" || is == utf8 {
		return nil
	}
	return engine.Invalid(clientEncoding, `%s, and pawl's texts are UTF8: add client_encoding=UTF8 to the connection string, or RuntimeParams["client_encoding"] = "UTF8" to the pool's configuration`, is)
}

// elsewhere reports whether the database may have another encoding than UTF-8.
func (db *DB) elsewhere() bool {
	is, _ := db.encoding.Load().(string)
	return is != utf8
}

// checkTxEncoding is checkEncoding for a caller's transaction. Only where the database is not
// UTF-8, or not known yet, a transaction that is not pgx's is asked: its connection is hidden.
func (db *DB) checkTxEncoding(ctx context.Context, tx engine.Tx) error {
	if own, ok := tx.(pgxTx); ok {
		if t, ok := own.tx.(pgx.Tx); ok && t.Conn() != nil {
			return db.checkEncoding(t.Conn().PgConn())
		}
	}
	row := txRow(tx)
	if row == nil || !db.elsewhere() {
		return nil
	}
	var is, database string
	if err := row(ctx, `SELECT pg_catalog.current_setting('client_encoding'), pg_catalog.current_setting('server_encoding')`).Scan(&is, &database); err != nil {
		return err
	}
	db.encoding.Store(database)
	return refuseEncoding(is)
}

// unstorable reports whether a text has characters that the database's encoding lacks.
func unstorable(err error) bool {
	code := driverr.SQLState(err)
	return code == "22P05" || code == "22021"
}

// unstorableText replaces such an error's own, which has the character.
const unstorableText = "a text has characters that the encoding of the database cannot store"

// checkDatabase returns what is to be known of a database's encoding.
func checkDatabase(encoding string) []health.Finding {
	const advice = "Create the database anew with ENCODING 'UTF8' and move the tables there: pg_dump, or pawl fleet move."
	switch encoding {
	case utf8:
		return nil
	case sqlASCII:
		return []health.Finding{engine.NewFinding(health.Warning, "server_encoding = SQL_ASCII: the server stores the bytes of any program as they are, and converts nothing", advice)}
	}
	return []health.Finding{engine.NewFinding(health.Warning,
		"server_encoding = "+encoding+": topics, keys and headers with other characters are refused, and in texts of errors they are written as \\u…", advice)}
}
