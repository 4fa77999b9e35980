package admin_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/internal/test/parts"
	"github.com/bravellian/pawl/internal/test/pgcluster"
	"github.com/bravellian/pawl/internal/test/proxytest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// pg is a handle on a fresh schema whose connections have more parameters, and the
// statements of a superuser on another one.
type pg struct {
	*postgres.DB
	t      *testing.T
	server string
	schema string
	super  *pgx.Conn
}

func onPostgres(t *testing.T, server, schema string, o postgres.Options, params ...string) *pg {
	t.Helper()
	super, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = super.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		_ = super.Close(context.Background())
	})
	o.Schema = schema
	p := &pg{t: t, server: server, schema: schema, super: super}
	p.DB = p.open(o, server)
	dbtest.Migrate(t, p.DB)
	if len(params) > 0 {
		p.DB = p.open(o, server, params...)
	}
	return p
}

func (p *pg) open(o postgres.Options, server string, params ...string) *postgres.DB {
	p.t.Helper()
	o.Schema = p.schema
	db, err := postgres.Open(strings.Join(append([]string{server, "pool_max_conns=4"}, params...), "&"), o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (p *pg) exec(query string) {
	p.t.Helper()
	if _, err := p.super.Exec(p.t.Context(), strings.ReplaceAll(query, "pawl.", p.schema+".")); err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
}

// flush hands in what this session adds to the statistics, which else takes seconds.
func (p *pg) flush() {
	p.exec("DO $$ BEGIN PERFORM pg_stat_force_next_flush(); EXCEPTION WHEN undefined_function THEN NULL; END $$")
}

func (p *pg) examine(l engine.ExamineLimits) []health.Finding { return examine(p.t, p.DB, l) }

func examine(t *testing.T, db engine.DB, l engine.ExamineLimits) []health.Finding {
	return parts.NewAdmin(db).ExamineWith(t.Context(), access.Key{}, engine.ExamineOptions{Timeout: time.Minute, Limits: l}).Findings
}

// find returns the evidence and next step of what is worse than ok.
func find(findings []health.Finding, check string) string {
	var text []string
	for _, f := range findings {
		if f.Code == check && f.Level > health.OK {
			text = append(text, f.Summary+" -> "+f.NextStep)
		}
	}
	return strings.Join(text, "\n")
}

// Sessions of other connections may see other settings: what ours see counts.
func TestExaminePostgresSettingsOfTheSession(t *testing.T) {
	t.Parallel()
	p := onPostgres(t, testpg.URL(t), "d_settings", postgres.Options{RelaxedAck: true})
	before := p.examine(engine.ExamineLimits{})
	if text := find(before, "durability"); !strings.Contains(text, "RelaxedAck") || strings.Contains(text, "synchronous_commit") {
		t.Errorf("before: %s", text)
	}
	findings := examine(t, p.open(postgres.Options{}, p.server, "synchronous_commit=off", "default_transaction_isolation=serializable"), engine.ExamineLimits{})
	if text := find(findings, "durability"); !strings.Contains(text, "synchronous_commit = off (from: client)") || !strings.Contains(text, "RESET synchronous_commit") {
		t.Errorf("durability: %s", text)
	}
	wantFinding(t, findings, "server", health.Note, "default_transaction_isolation = serializable", "")

	p.exec("CREATE ROLE d_hasty LOGIN SUPERUSER CONNECTION LIMIT 7")
	defer p.exec("DROP ROLE d_hasty")
	p.exec("ALTER ROLE d_hasty SET synchronous_commit = off")
	u, err := url.Parse(p.server)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("d_hasty")
	hasty := p.open(postgres.Options{}, u.String())
	findings = examine(t, hasty, engine.ExamineLimits{Connections: 10})
	if text := find(findings, "durability"); !strings.Contains(text, "synchronous_commit = off (from: user)") {
		t.Errorf("of the role: %s", text)
	}
	if text := find(findings, "connections"); !strings.Contains(text, "role d_hasty: ") || !strings.Contains(text, "of 7 connections") {
		t.Errorf("connections: %s", text)
	}
	_ = hasty.Close()
}

func TestExaminePostgresThatCannotBeWrittenTo(t *testing.T) {
	t.Parallel()
	p := onPostgres(t, testpg.URL(t), "d_readonly", postgres.Options{}, "default_transaction_read_only=on")
	findings := p.examine(engine.ExamineLimits{})
	wantFinding(t, findings, "writable", health.Problem, "read-only", "primary")
	wantFinding(t, findings, "server", health.Problem, "default_transaction_read_only = on", "ALTER ROLE")
	wantOK(t, findings, "joins")
}

func TestExaminePostgresTables(t *testing.T) {
	t.Parallel()
	p := onPostgres(t, testpg.URL(t), "d_tables", postgres.Options{})
	wantOK(t, p.examine(engine.ExamineLimits{}), "vacuum")
	p.exec("ALTER TABLE pawl.outbox_ready SET (autovacuum_enabled = off)")
	f := wantFinding(t, p.examine(engine.ExamineLimits{}), "vacuum", health.Warning, "switched off for table outbox_ready", "RESET (autovacuum_enabled)")
	p.exec(f.NextStep)

	p.exec("ALTER TABLE pawl.inbox SET (autovacuum_enabled = off)")
	p.exec("INSERT INTO pawl.inbox (source, message_id) SELECT 's', i::text FROM generate_series(1, 500) i")
	p.exec("DELETE FROM pawl.inbox")
	p.flush()
	dbtest.Until(t, "the statistics know", func() bool {
		found := find(p.examine(engine.ExamineLimits{DeadRows: 400}), "vacuum")
		return strings.Contains(found, `table inbox has `) && strings.Contains(found, `dead rows and 0 live ones, never vacuumed -> See`)
	})
	dbtest.Until(t, "a vacuum has removed them", func() bool {
		// Again and again: it leaves what the snapshots of other tests may still see.
		p.exec("VACUUM pawl.inbox")
		p.flush()
		return !strings.Contains(find(p.examine(engine.ExamineLimits{DeadRows: 400}), "vacuum"), "dead rows")
	})
	p.exec("ALTER TABLE pawl.inbox RESET (autovacuum_enabled)")
	wantOK(t, p.examine(engine.ExamineLimits{DeadRows: 400}), "vacuum")

	p.exec("ALTER TABLE pawl.lease SET UNLOGGED")
	if text := find(p.examine(engine.ExamineLimits{}), "durability"); !strings.Contains(text, `table lease is unlogged: a crash empties it -> ALTER TABLE "d_tables"."lease" SET LOGGED`) {
		t.Errorf("durability: %s", text)
	}
}

func TestExaminePostgresObjects(t *testing.T) {
	t.Parallel()
	p := onPostgres(t, testpg.URL(t), "d_objects", postgres.Options{})
	p.exec(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pawl.outbox_join_member_id_idx'::regclass`)
	wantFinding(t, p.examine(engine.ExamineLimits{}), "objects", health.Problem, "invalid index: CREATE INDEX ON pawl.outbox_join_member USING btree (id)", "Drop it")
	p.exec(`REINDEX INDEX pawl.outbox_join_member_id_idx`)
	wantOK(t, p.examine(engine.ExamineLimits{}), "objects")
	p.exec(`CREATE OR REPLACE FUNCTION pawl.check_blank(p_value text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN false; END $$`)
	wantFinding(t, p.examine(engine.ExamineLimits{}), "objects", health.Problem, "missing or changed function: check_blank(text)", "by hand")
	p.exec(`DROP FUNCTION pawl.outbox_join_wake`)
	if text := find(p.examine(engine.ExamineLimits{}), "objects"); !strings.Contains(text, "outbox_join_wake(_uuid)") {
		t.Errorf("objects: %s", text)
	}
}

func TestExaminePostgresSnapshots(t *testing.T) {
	t.Parallel()
	p := onPostgres(t, testpg.URL(t), "d_snapshots", postgres.Options{})
	limits := engine.ExamineLimits{Snapshot: time.Millisecond}
	other, err := pgx.Connect(t.Context(), testpg.With(p.server, "application_name=forgetful"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(context.Background()) }()
	var pid int
	if err := other.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	holder := fmt.Sprintf("process %d (user %q, application \"forgetful\", idle in transaction)", pid, "postgres")
	tx, err := other.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 'secret payload'"); err != nil {
		t.Fatal(err)
	}
	// Of all sessions of the server only the three oldest are named: wait until the
	// others, which are at work, are gone.
	dbtest.Until(t, "the holder is named", func() bool {
		text := find(p.examine(limits), "snapshots")
		return strings.Contains(text, holder) && strings.Contains(text, fmt.Sprintf("pg_terminate_backend(%d)", pid)) &&
			strings.Contains(text, "idle_in_transaction_session_timeout") && !strings.Contains(text, "secret")
	})
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := find(p.examine(limits), "snapshots"); strings.Contains(text, holder) {
		t.Errorf("snapshots: %s", text)
	}
}

// What needs a server of its own: settings of all sessions, prepared transactions
// and replication slots.
func TestExaminePostgresOfItsOwn(t *testing.T) {
	t.Parallel()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{Settings: map[string]string{"max_prepared_transactions": "5"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	}()
	p := onPostgres(t, cluster.URL(), "pawl", postgres.Options{})
	for _, f := range p.examine(engine.ExamineLimits{}) {
		if f.Level != health.OK {
			t.Errorf("a server as it comes: %+v", f)
		}
	}
	for _, c := range []struct {
		set, check, reset string
		level             health.Level
		evidence, next    string
	}{
		{"fsync = off", "durability", "fsync", health.Problem, "fsync = off (from: configuration file)", "ALTER SYSTEM SET fsync = on"},
		{"full_page_writes = off", "durability", "full_page_writes", health.Problem, "full_page_writes = off (from: configuration file)", "ALTER SYSTEM SET full_page_writes = on"},
		{"synchronous_commit = off", "durability", "synchronous_commit", health.Warning, "synchronous_commit = off (from: configuration file)", "ALTER SYSTEM RESET"},
		{"autovacuum = off", "vacuum", "autovacuum", health.Problem, "autovacuum = off (from: configuration file)", "ALTER SYSTEM SET autovacuum = on"},
	} {
		p.exec("ALTER SYSTEM SET " + c.set)
		p.exec("SELECT pg_reload_conf()")
		var seen []health.Finding // by one session: others may not have read it yet
		dbtest.Until(t, c.set+" is seen", func() bool { seen = p.examine(engine.ExamineLimits{}); return find(seen, c.check) != "" })
		wantFinding(t, seen, c.check, c.level, c.evidence, c.next)
		p.exec("ALTER SYSTEM RESET " + c.reset)
		p.exec("SELECT pg_reload_conf()")
		dbtest.Until(t, c.set+" is gone", func() bool { return find(p.examine(engine.ExamineLimits{}), c.check) == "" })
	}

	old := engine.ExamineLimits{Snapshot: time.Microsecond}
	p.exec("BEGIN; UPDATE pawl.outbox_lane SET priority = priority; PREPARE TRANSACTION 'two-phase'")
	if text := find(p.examine(old), "snapshots"); !strings.Contains(text, `transaction "two-phase" of "postgres" was prepared`) {
		t.Errorf("prepared: %s", text)
	}
	p.exec("ROLLBACK PREPARED 'two-phase'")
	p.exec("SELECT pg_create_physical_replication_slot('left_behind', true)")
	f := wantFinding(t, p.examine(engine.ExamineLimits{}), "snapshots", health.Warning, `nobody reads replication slot "left_behind"`, "pg_drop_replication_slot('left_behind')")
	_, drop, _ := strings.Cut(f.NextStep, "or: ")
	p.exec(drop)
	wantOK(t, p.examine(engine.ExamineLimits{}), "snapshots")

	p.exec("CREATE ROLE d_app LOGIN")
	p.exec("GRANT USAGE ON SCHEMA pawl TO d_app")
	p.exec("GRANT ALL ON ALL TABLES IN SCHEMA pawl TO d_app")
	p.exec("GRANT ALL ON ALL SEQUENCES IN SCHEMA pawl TO d_app")
	app := p.open(postgres.Options{}, strings.Replace(p.server, "postgres@", "d_app@", 1))
	for _, f := range examine(t, app, engine.ExamineLimits{}) {
		if f.Level > health.Note || f.Level == health.Note && (f.Code != "snapshots" || !strings.Contains(f.Summary, "do not show themselves")) {
			t.Errorf("as a role without more rights than it needs: %+v", f)
		}
	}
	_ = app.Close()
}

// D-796: a pooler that hands out connections by the transaction loses what belongs to a
// session.
func TestExaminePostgresBehindATransactionPooler(t *testing.T) {
	t.Parallel()
	p := onPostgres(t, testpg.URL(t), "d_pooler", postgres.Options{})
	wantOK(t, p.examine(engine.ExamineLimits{}), "pooler")
	behind := p.open(postgres.Options{}, proxytest.NewPooler(t, p.server).URL(p.server), "default_query_exec_mode=exec")
	findings := examine(t, behind, engine.ExamineLimits{})
	wantFinding(t, findings, "pooler", health.Warning, "by the transaction", "pool_mode = session")
	wantOK(t, findings, "schema")
	wantOK(t, findings, "joins")
	rotating := proxytest.NewPooler(t, p.server)
	if err := rotating.Rotate(2); err != nil {
		t.Fatal(err)
	}
	behind = p.open(postgres.Options{}, rotating.URL(p.server), "default_query_exec_mode=exec")
	for range 2 { // the second time has all connections
		wantFinding(t, examine(t, behind, engine.ExamineLimits{}), "pooler", health.Warning, "by the transaction", "pool_mode = session")
	}
	late := proxytest.NewPooler(t, p.server)
	behind = p.open(postgres.Options{}, late.URL(p.server), "default_query_exec_mode=exec")
	i := slices.IndexFunc(behind.Examinations(engine.ExamineLimits{}), func(x engine.Examination) bool { return x.Name == "pooler" })
	for n := range 8 {
		late.Late(n)
		found, err := behind.Examinations(engine.ExamineLimits{})[i].Examine(t.Context())
		if err != nil || !strings.Contains(found[0].Summary, "by the transaction") {
			t.Errorf("when %d connections are given back late: %v, %v", n, found, err)
		}
	}
	through := p.open(postgres.Options{}, proxytest.New(t, p.server).URL(p.server))
	wantOK(t, examine(t, through, engine.ExamineLimits{}), "pooler")
}

// D-5: what is found never holds a password.
func TestExaminePostgresPasswordsStaySecret(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=2", "postgres://u:hunter2@no-such-host.invalid/db?password=hunter2"} {
		db, err := postgres.Open(server)
		if err != nil {
			t.Fatal(err)
		}
		r := parts.NewAdmin(db).Examine(t.Context())
		if text := fmt.Sprint(r); len(r.Findings) != 1 || r.Level != health.Problem || strings.Contains(text, "hunter2") {
			t.Errorf("%s", text)
		}
		_ = db.Close()
	}
}

// D-114: a routine without a search_path, one that gives everybody its owner's rights,
// and a session that looks elsewhere before pg_catalog are found, with what to do.
func TestExaminePostgresPaths(t *testing.T) {
	t.Parallel()
	p := onPostgres(t, testpg.URL(t), "d_paths", postgres.Options{})
	wantOK(t, p.examine(engine.ExamineLimits{}), "paths")
	p.exec("ALTER ROUTINE pawl.outbox_wake RESET search_path")
	p.exec("GRANT EXECUTE ON ROUTINE pawl.audit_purge TO PUBLIC")
	text := find(p.examine(engine.ExamineLimits{}), "paths")
	for _, want := range []string{
		"outbox_wake(text[]) does not set its search_path", "ALTER ROUTINE d_paths.outbox_wake(text[]) SET search_path = pg_catalog, pg_temp",
		"d_paths.audit_purge(interval,integer) runs with the rights of ", "REVOKE EXECUTE ON ROUTINE d_paths.audit_purge(interval,integer) FROM PUBLIC",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in %s", want, text)
		}
	}
	p.exec("ALTER ROUTINE d_paths.outbox_wake(text[]) SET search_path = pg_catalog, pg_temp")
	p.exec("REVOKE EXECUTE ON ROUTINE d_paths.audit_purge(interval,integer) FROM PUBLIC")
	wantOK(t, p.examine(engine.ExamineLimits{}), "paths")
	elsewhere := examine(t, p.open(postgres.Options{}, p.server, "search_path=public,pg_catalog"), engine.ExamineLimits{})
	wantFinding(t, elsewhere, "paths", health.Warning, "public before pg_catalog", "search_path")
}
