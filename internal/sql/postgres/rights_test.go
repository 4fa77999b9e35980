package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

const rolePassword = "p4ssw0rd-kanarienvogel"

// role makes a login role without any rights and returns its name and the URL
// to connect with.
func role(t testing.TB) (name, address string) {
	t.Helper()
	name = fmt.Sprintf("role_%x", enginetest.Token())[:30]
	admin(t, `CREATE ROLE "`+name+`" LOGIN PASSWORD '`+rolePassword+`'`)
	t.Cleanup(func() { admin(t, `DROP OWNED BY "`+name+`" CASCADE`, `DROP ROLE "`+name+`"`) })
	u, err := url.Parse(testpg.URL(t))
	enginetest.Must(t, err)
	u.User = url.UserPassword(name, rolePassword)
	return name, u.String()
}

// D-100, OBX-108: a role that may not create schemas migrates one it owns.
func TestMigrateIntoAnExistingSchemaNeedsNoRightOnTheDatabase(t *testing.T) {
	name, address := role(t)
	own := schema(t)
	admin(t, `CREATE SCHEMA "`+own+`" AUTHORIZATION "`+name+`"`)
	db := open(t, address, postgres.Options{Schema: own})
	enginetest.Must(t, db.Migrate(t.Context()))
	enginetest.Must(t, db.Migrate(t.Context()))
	enginetest.LiveOnce(t, db)

	none := open(t, address, postgres.Options{Schema: own + "_no"})
	if err := none.Migrate(t.Context()); err == nil {
		t.Error("a role without the right made a schema")
	}
}

// OBX-112, OBX-123, OBX-124: rights to use the schema, to read and write the
// tables, to use the sequences and to execute the routines are enough.
func TestReadWriteAndExecuteRightsSuffice(t *testing.T) {
	p := place()(t)
	enginetest.Migrated(t, p)
	name, address := role(t)
	s, r := `"`+p.Names.Schema+`"`, `"`+name+`"`
	admin(t,
		`REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA `+s+` FROM PUBLIC`,
		`GRANT USAGE ON SCHEMA `+s+` TO `+r,
		`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA `+s+` TO `+r,
		`GRANT USAGE ON ALL SEQUENCES IN SCHEMA `+s+` TO `+r,
		`GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA `+s+` TO `+r)
	db := open(t, address, postgres.Options{Schema: p.Names.Schema})
	enginetest.Must(t, db.CheckSchema(t.Context()))
	enginetest.LiveOnce(t, db)
	waiter := db.Waiter(enginetest.Queue)
	defer waiter.Close()
	woken := enginetest.Asleep(t, waiter)
	enginetest.Put(t, db, 1)
	enginetest.WantWoken(t, woken)
	tx, err := pool(t, db).BeginTx(t.Context(), nil)
	enginetest.Must(t, err)
	defer tx.Rollback()
	for _, call := range []string{
		`SELECT pawl.outbox_enqueue('t', 'x')`, `SELECT pawl.outbox_enqueue_unique('t', 'x', 'k')`, `SELECT count(*) FROM pawl.outbox_claim(gen_random_uuid(), 30)`,
		`SELECT pawl.outbox_set_result(gen_random_uuid(), 1, 'x')`, `SELECT pawl.outbox_ack(gen_random_uuid(), '{1,2}')`, `SELECT pawl.outbox_abandon(gen_random_uuid(), '{1}')`,
		`SELECT pawl.outbox_fail(gen_random_uuid(), '{1}')`, `SELECT pawl.outbox_release(gen_random_uuid(), '{1}')`,
		`SELECT pawl.outbox_extend(gen_random_uuid(), '{1}', 30)`, `SELECT pawl.outbox_reap_expired()`, `SELECT count(*) FROM pawl.outbox`,
	} {
		if _, err := tx.ExecContext(t.Context(), p.Names.Render(call)); err != nil {
			t.Fatalf("%s: %v", call, err)
		}
	}
}

// D-100: a migration that has to wait for a table fails, since all other statements would wait
// behind it.
func TestMigrationDoesNotQueueBehindALongReader(t *testing.T) {
	for what, c := range map[string]struct{ lock, migration string }{
		"the history":      {"LOCK TABLE pawl.pawl_schema IN ACCESS EXCLUSIVE MODE", ""},
		"a reader's table": {"SELECT count(*) FROM pawl.outbox_ready", "ALTER TABLE pawl.outbox_ready ADD COLUMN more integer"},
	} {
		t.Run(what, func(t *testing.T) {
			p := place()(t)
			enginetest.Migrated(t, p)
			db := open(t, testpg.URL(t), postgres.Options{Schema: p.Names.Schema, LockTimeout: 50 * time.Millisecond})
			if c.migration != "" {
				postgres.AddMigration(db, c.migration)
			}
			reader, err := p.SQL.BeginTx(t.Context(), nil)
			enginetest.Must(t, err)
			defer reader.Rollback()
			_, err = reader.Exec(p.Names.Render(c.lock))
			enginetest.Must(t, err)
			enginetest.WantClass(t, within(t, func() error { return db.Migrate(context.Background()) }), engine.ErrBusy)
			enginetest.Must(t, reader.Rollback())
			enginetest.Until(t, "it can have the table", func() bool { return db.Migrate(t.Context()) == nil }) // the server may be cleaning it up
		})
	}
}

// OBX-126, D-5: the connection string's setting of encryption is respected: a server that
// cannot encrypt gets no password and no query.
func TestEncryptionThatTheServerRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	enginetest.Must(t, err)
	defer l.Close()
	asked := make(chan []byte, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			request := make([]byte, 8)
			_, _ = io.ReadFull(conn, request)
			_, _ = conn.Write([]byte("N")) // no encryption here
			more, _ := io.ReadAll(conn)
			asked <- slices.Concat(request, more)
			_ = conn.Close()
		}
	}()
	db := open(t, "postgres://postgres:"+rolePassword+"@"+l.Addr().String()+"/postgres?sslmode=require", postgres.Options{})
	err = within(t, func() error { return db.CheckSchema(context.Background()) })
	enginetest.WantClass(t, err, engine.ErrUnreachable)
	noPassword(t, err)
	if text := fmt.Sprint(err); !containsAny(text, "TLS", "SSL", "tls") {
		t.Errorf("the error does not say why: %s", text)
	}
	if got, want := <-asked, []byte{0, 0, 0, 8, 4, 210, 22, 47}; !bytes.Equal(got, want) {
		t.Errorf("the server was sent %v, want a request for encryption alone", got)
	}
}

// D-101: a schema may have any valid name, up to the longest, together with
// the longest prefix; names that differ by case are different places.
func TestOddSchemaNames(t *testing.T) {
	mark := fmt.Sprintf("%x", enginetest.Token())[:12]
	names := []string{"Order_" + mark, "order_" + mark, "_" + mark, "S" + mark + strings.Repeat("x", 50)}
	var dbs []*postgres.DB
	for _, name := range names {
		t.Cleanup(func() { admin(t, `DROP SCHEMA IF EXISTS "`+name+`" CASCADE`) })
		db := open(t, testpg.URL(t), postgres.Options{Schema: name, Prefix: "Select_" + strings.Repeat("p", 25)})
		enginetest.Must(t, db.Migrate(t.Context()))
		enginetest.LiveOnce(t, db)
		dbs = append(dbs, db)
	}
	s := dbs[0].Waiter(enginetest.Queue)
	defer s.Close()
	woken := enginetest.Asleep(t, s)
	enginetest.Put(t, dbs[1], 1)
	select {
	case <-woken:
		t.Error("woken by another place")
	default:
	}
	enginetest.Put(t, dbs[0], 1)
	enginetest.WantWoken(t, woken)
	for _, name := range []string{"pg_mine", strings.Repeat("s", 64), `a"b`} {
		db, err := postgres.Open(testpg.URL(t), postgres.Options{Schema: name})
		if err == nil {
			err = db.Migrate(t.Context())
			_ = db.Close()
		}
		if err == nil {
			t.Errorf("schema %q was accepted", name)
		}
	}
}
