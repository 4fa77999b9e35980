package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
	"github.com/bravellian/pawl/internal/test/testpg"
)

// fakeCitus makes the catalog tables of Citus in a schema of their own, of a node of group 2.
func fakeCitus(t *testing.T) (catalog string) {
	t.Helper()
	catalog = schema(t)
	admin(t, `CREATE SCHEMA `+catalog,
		`CREATE TABLE `+catalog+`.pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod "char" NOT NULL DEFAULT 'n')`,
		`CREATE TABLE `+catalog+`.pg_dist_schema (schemaid oid PRIMARY KEY, colocationid int NOT NULL)`,
		`CREATE TABLE `+catalog+`.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint PRIMARY KEY)`,
		`CREATE TABLE `+catalog+`.pg_dist_placement (placementid bigserial PRIMARY KEY, shardid bigint NOT NULL, shardstate int NOT NULL DEFAULT 1, groupid int NOT NULL)`,
		`CREATE TABLE `+catalog+`.pg_dist_local_group (groupid int PRIMARY KEY)`,
		`CREATE TABLE `+catalog+`.pg_dist_node (groupid int, nodename text, nodeport int, noderole text DEFAULT 'primary', isactive bool DEFAULT true, shouldhaveshards bool DEFAULT true)`,
		`INSERT INTO `+catalog+`.pg_dist_local_group VALUES (2)`,
		`CREATE FUNCTION `+catalog+`.shard_name(regclass, bigint) RETURNS text LANGUAGE sql STABLE AS $$ SELECT $1::text || '_' || $2 $$`,
		`CREATE TABLE `+catalog+`.coordinator_node (groupid int)`, `CREATE TABLE `+catalog+`.answers AS SELECT true AS success`,
		`CREATE FUNCTION `+catalog+`.run_command_on_coordinator(command text, boolean, OUT success bool, OUT result text) LANGUAGE plpgsql AS $$ BEGIN
		  SELECT a.success INTO success FROM `+catalog+`.answers a;
		  EXECUTE replace(command, 'pg_dist_node', 'coordinator_node') INTO result; END $$`)
	return catalog
}

func openFake(t *testing.T, catalog string) (db *postgres.DB, name string) {
	t.Helper()
	name = schema(t)
	db = open(t, testpg.URL(t), postgres.Options{Schema: name})
	postgres.SetCitus(db, catalog, "")
	return db, name
}

// citusFindings is what the doctor's check of a name finds.
func citusFindings(t *testing.T, db *postgres.DB, name string) (worst health.Level, text string) {
	t.Helper()
	for _, x := range db.Examinations(engine.ExamineLimits{}) {
		if x.Name != name {
			continue
		}
		found, err := x.Examine(t.Context())
		enginetest.Must(t, err)
		for _, f := range found {
			worst, text = max(worst, f.Level), text+f.Summary+" "+f.NextStep+"\n"
		}
	}
	return worst, text
}

// D-244: DDL of a migration stays on the node: the setting is off in its transaction and no
// longer, and a role that may not set it migrates all the same.
func TestMigrateKeepsCitusFromPropagating(t *testing.T) {
	db, name := openFake(t, "pg_catalog")
	admin(t, `CREATE SCHEMA `+name)
	postgres.AddMigration(db, `CREATE TABLE pawl.seen AS SELECT current_setting('citus.enable_ddl_propagation') AS setting`)
	enginetest.Must(t, db.Migrate(t.Context()))
	var seen string
	enginetest.Must(t, db.Pool().QueryRow(t.Context(), `SELECT setting FROM `+name+`.seen`).Scan(&seen))
	if seen != "off" {
		t.Errorf("in the migration: %q", seen)
	}
	enginetest.Must(t, db.Pool().QueryRow(t.Context(), `SELECT coalesce(current_setting('citus.enable_ddl_propagation', true), '')`).Scan(&seen))
	if seen == "off" {
		t.Error("it is off after the migration as well")
	}

	refused, name := openFake(t, "pg_catalog")
	postgres.SetCitus(refused, "pg_catalog", "max_connections") // which nobody can set
	enginetest.Must(t, refused.Migrate(t.Context()))
	enginetest.Must(t, refused.CheckSchema(t.Context()))
	if n := tablesIn(t, refused, name); n < 20 {
		t.Errorf("%d tables", n)
	}
}

func tablesIn(t *testing.T, db *postgres.DB, name string) (n int) {
	t.Helper()
	enginetest.Must(t, db.Pool().QueryRow(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = $1`, name).Scan(&n))
	return n
}

// D-245: tables of pawl's that Citus distributes are refused by checks, migrations and the
// doctor, which name one and say what to do; others' tables are not.
func TestCitusTablesAreRefused(t *testing.T) {
	catalog := fakeCitus(t)
	db, name := openFake(t, catalog)
	enginetest.Must(t, db.Migrate(t.Context()))
	admin(t, `CREATE TABLE `+name+`.orders (id int)`, `INSERT INTO `+catalog+`.pg_dist_partition VALUES ('`+name+`.orders')`)
	enginetest.Must(t, db.CheckSchema(t.Context()))
	enginetest.Must(t, db.Migrate(t.Context()))
	if level, text := citusFindings(t, db, "citus"); level > health.Note {
		t.Errorf("others' tables: %v %s", level, text)
	}

	admin(t, `INSERT INTO `+catalog+`.pg_dist_partition VALUES ('`+name+`.outbox_message')`)
	for what, err := range map[string]error{"check": db.CheckSchema(t.Context()), "migrate": db.Migrate(t.Context()), "baseline": db.Baseline(t.Context())} {
		if !errors.Is(err, engine.ErrSchemaDistributed) || !strings.Contains(err.Error(), name+".outbox_message") || !strings.Contains(err.Error(), "undistribute_table(") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if status, err := db.SchemaStatus(t.Context()); err != nil || !errors.Is(status.Err, engine.ErrSchemaDistributed) {
		t.Errorf("status: %v, %v", status.Err, err)
	}
	if level, text := citusFindings(t, db, "citus"); level != health.Problem || !strings.Contains(text, "outbox_message") {
		t.Errorf("doctor: %v %s", level, text)
	}
}

// D-245: a schema that Citus distributes is refused before anything is created in it.
func TestCitusSchemaIsRefused(t *testing.T) {
	catalog := fakeCitus(t)
	db, name := openFake(t, catalog)
	admin(t, `CREATE SCHEMA `+name, `INSERT INTO `+catalog+`.pg_dist_schema VALUES ('`+name+`'::regnamespace, 1)`)
	if err := db.Migrate(t.Context()); !errors.Is(err, engine.ErrSchemaDistributed) || !strings.Contains(err.Error(), "citus_schema_undistribute('"+name+"')") {
		t.Errorf("migrate: %v", err)
	}
	if n := tablesIn(t, db, name); n > 0 {
		t.Errorf("%d tables were created", n)
	}
}

// D-245: tables that become distributed while they are created are not kept.
func TestCitusDistributesWhatIsCreated(t *testing.T) {
	catalog := fakeCitus(t)
	db, name := openFake(t, catalog)
	postgres.AddMigration(db, `INSERT INTO `+catalog+`.pg_dist_partition VALUES ('pawl.outbox_message')`)
	if err := db.Migrate(t.Context()); !errors.Is(err, engine.ErrSchemaDistributed) {
		t.Errorf("migrate: %v", err)
	}
	if n := tablesIn(t, db, name); n > 0 {
		t.Errorf("%d tables were created", n)
	}
}

// D-521: what Citus distributes while programs run is refused by each of their writes, whose
// ids were reserved before, in their own transactions too; when it is undone they go on.
func TestCitusDistributesUnderRunningPrograms(t *testing.T) {
	catalog := fakeCitus(t)
	db, name := openFake(t, catalog)
	enginetest.Must(t, db.Migrate(t.Context()))
	next := enginetest.Put(t, db, 1)[0]
	enqueue := func() *engine.Call { next++; return enginetest.Enqueue([]int64{next}, nil) }
	try := func(distributed bool) {
		t.Helper()
		var got []enginetest.Message
		errs := map[string]error{
			"enqueue":          db.Do(t.Context(), enqueue()),
			"own transaction":  db.InTx(t.Context(), func(context.Context, engine.Tx) error { return nil }),
			"claim":            db.Do(t.Context(), enginetest.Claim(enginetest.Token(), time.Minute, 1, &got)),
			"transaction, pgx": pgx.BeginFunc(t.Context(), db.Pool(), func(tx pgx.Tx) error { return db.DoTx(t.Context(), postgres.Tx(tx), enqueue()) }),
		}
		std, err := pool(t, db).BeginTx(t.Context(), nil)
		enginetest.Must(t, err)
		errs["transaction, database/sql"] = db.DoTx(t.Context(), std, enqueue())
		enginetest.Must(t, std.Commit()) // what is refused does not end it
		for what, err := range errs {
			if errors.Is(err, engine.ErrSchemaDistributed) != distributed || !distributed && err != nil {
				t.Errorf("%s: %v, distributed: %v", what, err, distributed)
			}
		}
	}
	try(false)
	admin(t, `INSERT INTO `+catalog+`.pg_dist_partition VALUES ('`+name+`.outbox_message')`)
	stored := enginetest.Count(t, db).Sum()
	try(true)
	if n := enginetest.Count(t, db).Sum(); n != stored {
		t.Errorf("%d messages were stored where nobody claims", n-stored)
	}
	admin(t, `DELETE FROM `+catalog+`.pg_dist_partition`)
	try(false)
}

// D-521: what fails because Citus distributed the tables says so, also while they count as this
// node's own.
func TestCitusDistributesAndCallsFail(t *testing.T) {
	catalog := fakeCitus(t)
	db, name := openFake(t, catalog)
	postgres.SetCitusEvery(db, time.Hour)
	enginetest.Must(t, db.Migrate(t.Context()))
	enginetest.Put(t, db, 1)
	admin(t, `INSERT INTO `+catalog+`.pg_dist_partition VALUES ('`+name+`.outbox_message')`, `ALTER TABLE `+name+`.outbox_ready RENAME TO outbox_ready_102008`,
		`ALTER TABLE `+name+`.outbox_lane RENAME TO outbox_lane_102009`)
	var got []enginetest.Message
	for what, err := range map[string]error{
		"read": db.Read(t.Context(), enginetest.Lanes()), "write": db.Do(t.Context(), enginetest.Claim(enginetest.Token(), time.Minute, 1, &got)),
	} {
		if !errors.Is(err, engine.ErrSchemaDistributed) || errors.Is(err, engine.ErrSchemaMissing) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// D-521: a server without Citus is not asked with each write.
func TestWithoutCitusWritesAskNothing(t *testing.T) {
	name := schema(t)
	config, err := pgxpool.ParseConfig(testpg.URL(t))
	enginetest.Must(t, err)
	asked := &askedFor{text: "to_regclass"}
	config.ConnConfig.Tracer = asked
	p, err := pgxpool.NewWithConfig(t.Context(), config)
	enginetest.Must(t, err)
	defer p.Close()
	db, err := postgres.New(p, postgres.Options{Schema: name})
	enginetest.Must(t, err)
	enginetest.Must(t, db.Migrate(t.Context()))
	asked.n.Store(0)
	for range 20 {
		enginetest.Put(t, db, 1)
	}
	if n := asked.n.Load(); n > 1 {
		t.Errorf("20 writes asked %d times", n)
	}
}

// askedFor counts the queries that have a text in them.
type askedFor struct {
	text string
	n    atomic.Int64
}

func (a *askedFor) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, a.text) {
		a.n.Add(1)
	}
	return ctx
}

func (a *askedFor) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// D-524: Citus undistributes each of pawl's tables, and drops nothing with them: none has an
// identity column, and no routine takes or returns a table's rows.
func TestCitusCanUndistribute(t *testing.T) {
	db, name := openFake(t, "pg_catalog")
	enginetest.Must(t, db.Migrate(t.Context()))
	for what, query := range map[string]string{
		"identity columns": `SELECT coalesce(string_agg(a.attrelid::regclass || '.' || a.attname, ', '), '') FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		  WHERE c.relnamespace = $1::regnamespace AND a.attidentity <> ''`,
		"routines that depend on a table": `SELECT coalesce(string_agg(d.objid::regprocedure::text, ', '), '') FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid
		  LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid LEFT JOIN pg_type e ON e.oid = t.typelem
		  JOIN pg_class c ON c.oid = CASE WHEN d.refclassid = 'pg_class'::regclass THEN d.refobjid ELSE coalesce(nullif(e.typrelid, 0), t.typrelid) END
		  WHERE d.classid = 'pg_proc'::regclass AND p.pronamespace = $1::regnamespace AND c.relkind IN ('r', 'v')`,
	} {
		var found string
		enginetest.Must(t, db.Pool().QueryRow(t.Context(), query, name).Scan(&found))
		if found != "" {
			t.Errorf("%s: %s", what, found)
		}
	}
}

// listedNodes is what CitusNodes returns in a database.
func listedNodes(t *testing.T, db *postgres.DB, catalog string) string {
	t.Helper()
	rows, err := db.Pool().Query(t.Context(), strings.ReplaceAll(postgres.CitusNodes, "pg_catalog.", catalog+"."))
	enginetest.Must(t, err)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var key, host string
		var port int
		err := row.Scan(&key, &host, &port)
		return fmt.Sprint(key, "=", host, ":", port), err
	})
	enginetest.Must(t, err)
	return strings.Join(all, " ")
}

// D-246, D-522: the list has every worker, active or not, and the coordinator if it has shards
// or pawl's tables.
func TestCitusNodesAreListed(t *testing.T) {
	db := open(t, testpg.Database(t), postgres.Options{Schema: "work", Prefix: "our_"}) // in which nobody else has pawl's tables
	for _, text := range []string{
		`CREATE SCHEMA c`, `CREATE TABLE c.pg_dist_node (groupid int, nodename text, nodeport int, noderole text, isactive bool, shouldhaveshards bool)`,
		`INSERT INTO c.pg_dist_node VALUES
		(0, 'coordinator', 5432, 'primary', true, false), (1, 'w1', 5432, 'primary', true, true), (1, 'w1s', 5432, 'secondary', true, true),
		(2, 'w2', 5433, 'primary', false, true), (3, 'w3', 5432, 'primary', true, false)`,
	} {
		_, err := db.Pool().Exec(t.Context(), text)
		enginetest.Must(t, err)
	}
	const workers = "node-1=w1:5432 node-2=w2:5433 node-3=w3:5432"
	if got := listedNodes(t, db, "c"); got != workers {
		t.Errorf("%q, want %q", got, workers)
	}
	_, err := db.Pool().Exec(t.Context(), `UPDATE c.pg_dist_node SET shouldhaveshards = true WHERE groupid = 0`)
	enginetest.Must(t, err)
	if got := listedNodes(t, db, "c"); got != "node-0=coordinator:5432 "+workers {
		t.Errorf("with the coordinator: %q", got)
	}
	enginetest.Must(t, db.Migrate(t.Context()))
	_, err = db.Pool().Exec(t.Context(), `UPDATE c.pg_dist_node SET shouldhaveshards = false WHERE groupid = 0`)
	enginetest.Must(t, err)
	if got := listedNodes(t, db, "c"); got != "node-0=coordinator:5432 "+workers {
		t.Errorf("with a coordinator that is drained, and messages in it: %q", got)
	}
}

// D-246, D-523: the doctor names nodes that are not active, and says when this one was removed:
// the coordinator knows, and this one keeps the list of before.
func TestDoctorOfACitusNode(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup []string // of the catalog C
		level health.Level
		want  string
	}{
		{"well", nil, health.OK, "of 2 nodes"},
		{"another is not active", []string{`UPDATE C.pg_dist_node SET isactive = false WHERE groupid = 3`}, health.Warning, "node-3 (w3:5432) is not active"},
		{"removed", []string{`DELETE FROM C.coordinator_node WHERE groupid = 2`}, health.Problem, "removed"},
		{"the coordinator does not answer", []string{`ALTER TABLE C.coordinator_node RENAME TO gone`}, health.Note, "does not answer"},
		{"the coordinator refuses", []string{`UPDATE C.answers SET success = false`}, health.Note, "does not answer"},
		{"the coordinator itself", []string{`UPDATE C.pg_dist_local_group SET groupid = 0`, `DROP TABLE C.coordinator_node`}, health.OK, "of 2 nodes"},
		{"a single node", []string{`DELETE FROM C.pg_dist_node`}, health.Note, "no other node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalog := fakeCitus(t)
			db, _ := openFake(t, catalog)
			for _, text := range append([]string{`INSERT INTO C.pg_dist_node (groupid, nodename, nodeport) VALUES (2, 'w2', 5432), (3, 'w3', 5432)`, `INSERT INTO C.coordinator_node VALUES (2), (3)`}, c.setup...) {
				admin(t, strings.ReplaceAll(text, "C.", catalog+"."))
			}
			if level, text := citusFindings(t, db, "citus"); level != c.level || !strings.Contains(text, c.want) {
				t.Errorf("%v %s", level, text)
			}
		})
	}
}

// D-248: other products that speak PostgreSQL's protocol are recognized by their addresses and
// what they say, and refused where what pawl relies on is missing.
func TestKin(t *testing.T) {
	said := func(version string, more ...string) map[string]string {
		all := map[string]string{"version": version}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	for _, c := range []struct {
		host    string
		said    map[string]string
		name    string
		refused string // part of why
		level   health.Level
		want    string // part of what the doctor says
	}{
		{"db", said("PostgreSQL 17.1 on x86_64-pc-linux-gnu, compiled by gcc"), "PostgreSQL", "", health.OK, ""},
		{"cockroach.example", said("PostgreSQL 17.1 (Debian)"), "PostgreSQL", "", health.OK, ""},
		{"db", said("CockroachDB CCL v26.3.0 (x86_64-pc-linux-gnu)"), "CockroachDB", "advisory locks", health.Problem, "CockroachDB"},
		{"abc.dsql.us-east-1.on.aws", nil, "Aurora DSQL", "PL/pgSQL", health.Problem, "DSQL"},
		{"abc.cluster-xyz.eu-west-1.rds.amazonaws.com", said("PostgreSQL 16.4 on aarch64"), "PostgreSQL", "", health.OK, ""},
		{"db", said("PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0.77467"), "Amazon Redshift", "unique keys", health.Problem, "Redshift"},
		{"db", said("PostgreSQL 12.12 (Greenplum Database 7.1.0) on x86_64"), "Greenplum", "distributed", health.Problem, "Greenplum"},
		{"db", said("PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64"), "YugabyteDB", "", health.Problem, "without advisory locks"},
		{"db", said("PostgreSQL 15.12-YB-2025.2.1.0-b1", "yb_enable_advisory_locks", "on"), "YugabyteDB", "", health.Warning, "without LISTEN"},
		{"db", said("PostgreSQL 15.12-YB-2025.2.3.0-b1", "yb_enable_advisory_locks", "on", "yb_enable_listen_notify", "on"), "YugabyteDB", "", health.Warning, "not tried"},
		{"ep-x.eu.aws.neon.tech", said("PostgreSQL 17.5 on x86_64"), "Neon", "", health.Note, "suspends"},
		{"proxy", said("PostgreSQL 17.5", "neon.timeline_id", "ab"), "Neon", "", health.Note, "suspends"},
		{"ep-x-pooler.eu.aws.neon.tech", said("PostgreSQL 17.5"), "Neon", "", health.Warning, "pooler"},
	} {
		name, refused, found := postgres.Kin(c.host, c.said)
		worst, text := health.OK, ""
		for _, f := range found {
			worst, text = max(worst, f.Level), text+f.Summary
		}
		if name != c.name || worst != c.level || !strings.Contains(text, c.want) || c.refused == "" && refused != "" || !strings.Contains(refused, c.refused) {
			t.Errorf("%s %v: %s, %q, %v", c.host, c.said, name, refused, found)
		}
	}
}

// D-248: a migration on a product that lacks what pawl relies on changes nothing, and the
// doctor says so.
func TestMigrateRefusesOtherProducts(t *testing.T) {
	name := schema(t)
	db := open(t, testpg.URL(t), postgres.Options{Schema: name})
	postgres.SetServer(db, `SELECT 'version' AS name, 'CockroachDB CCL v26.3.0' AS value WHERE $1 <> ''`)
	err := db.Migrate(t.Context())
	if !errors.Is(err, postgres.ErrUnsupported) || !strings.Contains(err.Error(), "CockroachDB") {
		t.Errorf("migrate: %v", err)
	}
	var n int
	enginetest.Must(t, db.Pool().QueryRow(t.Context(), `SELECT count(*) FROM pg_namespace WHERE nspname = $1`, name).Scan(&n))
	if n > 0 {
		t.Error("there is a schema")
	}
	if level, text := citusFindings(t, db, "server"); level != health.Problem || !strings.Contains(text, "CockroachDB") {
		t.Errorf("doctor: %v %s", level, text)
	}
}
