package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

// ErrOtherNode is returned by OnOwner for a table whose rows are not on the node that the
// transaction is on.
var ErrOtherNode = errors.New("the table is on another node")

// CitusNodes is the query for the nodes of a Citus, for fleet.Hosts: key, host and port.
// Nodes that are not active stay in the list: what they have is not lost. So does a coordinator
// without shards that has pawl's tables, under any schema and prefix.
const CitusNodes = `SELECT 'node-' || groupid AS key, nodename AS host, nodeport AS port
  FROM pg_catalog.pg_dist_node WHERE noderole = 'primary' AND (groupid <> 0 OR shouldhaveshards
   OR EXISTS (SELECT FROM pg_tables t WHERE right(t.tablename, 11) = 'pawl_schema')) ORDER BY groupid`

// citus is where Citus's catalog is, its setting, the query that recognizes servers, and how
// often writes check that Citus does not manage pawl's tables. Tests have others.
type citus struct {
	catalog, setting, server string
	every                    time.Duration
}

func realCitus() citus {
	return citus{catalog: "pg_catalog", setting: "citus.enable_ddl_propagation", server: serverRead, every: time.Second}
}

// citusEvery is how often a database is asked whether it has Citus by now.
const citusEvery = time.Minute

// beginDDL prepares a transaction for DDL, in one round trip: names are resolved safely, and
// what is created is created on this node alone. PostgreSQL without Citus accepts the setting.
// Where it is refused, DDL goes on without it.
func (db *DB) beginDDL(ctx context.Context, tx pgx.Tx) error {
	err := script(ctx, tx, safePath+"; SAVEPOINT pawl_citus; SET LOCAL "+db.citus.setting+" = off; RELEASE SAVEPOINT pawl_citus")
	if driverr.SQLState(err) == "" {
		return err
	}
	return script(ctx, tx, "ROLLBACK TO SAVEPOINT pawl_citus; RELEASE SAVEPOINT pawl_citus")
}

// distributedTables reads how many of pawl's tables Citus manages, and the first one's name. The
// catalog exists where it is asked.
const distributedTables = `SELECT pg_catalog.count(*), coalesce(pg_catalog.min(c.relname::pg_catalog.text), '') FROM CATALOG.pg_dist_partition p
  JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) p.logicalrelid::pg_catalog.oid
  JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
 WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.name AND c.relname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])`

// distributedSchema counts whether pawl's schema is one that Citus distributes.
const distributedSchema = `SELECT pg_catalog.count(*) FROM CATALOG.pg_dist_schema s JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) s.schemaid
 WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.name`

// catalogs says which catalog tables of Citus a database has.
type catalogs struct{ partition, schema bool }

func catalogsOf(said map[string]string) catalogs {
	return catalogs{partition: said["pg_dist_partition"] != "", schema: said["pg_dist_schema"] != ""}
}

// local returns an error if Citus manages pawl's tables. It makes no round trip where there is
// no Citus.
func (db *DB) local(ctx context.Context, q queryer, has catalogs) error {
	schema := db.opts.Schema
	if has.partition {
		if err := db.undistributed(ctx, ownRow(q)); err != nil {
			return err
		}
	}
	if !has.schema {
		return nil
	}
	rows, err := q.Query(ctx, db.inCatalog(distributedSchema), schema)
	if err != nil {
		return err
	}
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: Citus distributes schema %s (pg_dist_schema): SELECT citus_schema_undistribute('%s'), or use another schema (docs/scale.md)",
			engine.ErrSchemaDistributed, schema, schema)
	}
	return err
}

// stillLocal returns an error if Citus manages pawl's tables by now: what a program stores in
// them would be stored, and nobody could claim it. It asks once a second on a Citus, and
// elsewhere once a minute whether it is one. row is nil where nothing can be read.
func (db *DB) stillLocal(ctx context.Context, op string, row rowQuery) error {
	if row == nil || time.Now().UnixNano() < db.localUntil.Load() {
		return nil
	}
	every, is := citusEvery, false
	err := row(ctx, `SELECT pg_catalog.to_regclass($1::pg_catalog.text) IS NOT NULL`, db.citus.catalog+".pg_dist_partition").Scan(&is)
	if err == nil && is {
		every, err = db.citus.every, db.undistributed(ctx, row)
	}
	if errors.Is(err, engine.ErrSchemaDistributed) {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err != nil {
		return wrap(op, err, engine.ErrConnLost)
	}
	db.localUntil.Store(time.Now().Add(every).UnixNano())
	return nil
}

// asDistributed returns why calls failed, if that is because Citus manages pawl's tables since
// they were last known not to be: it does not run the routines, or not find them.
func (db *DB) asDistributed(ctx context.Context, q queryer, calls []*engine.Call, err error) error {
	const notSupported = "0A000"
	if !errors.Is(err, engine.ErrSchemaMissing) && driverr.SQLState(err) != notSupported {
		return err
	}
	db.localUntil.Store(0)
	if why := db.stillLocal(ctx, db.name(calls[0]), ownRow(q)); errors.Is(why, engine.ErrSchemaDistributed) {
		return why
	}
	return err
}

// undistributed returns an error if Citus manages tables of pawl's. The catalog exists where
// it is asked.
func (db *DB) undistributed(ctx context.Context, row rowQuery) error {
	const text = "%w: Citus has %[2]s.%[3]s and %[4]d more of pawl's tables in pg_dist_partition: pawl works on tables of one node: SELECT citus_schema_undistribute('%[2]s'), " +
		"or SELECT undistribute_table('%[2]s.%[3]s', cascade_via_foreign_keys => true) for each, or migrate a plain schema on each node (docs/scale.md)"
	var n int64
	var first string
	schema := db.opts.Schema
	if err := row(ctx, db.inCatalog(distributedTables), schema, db.tables()).Scan(&n, &first); err != nil || n == 0 {
		return err
	}
	return fmt.Errorf(text, engine.ErrSchemaDistributed, schema, first, n-1)
}

func (db *DB) inCatalog(text string) string {
	return strings.ReplaceAll(text, "CATALOG.", db.citus.catalog+".")
}

// tables returns the names of pawl's tables, prefix included.
func (db *DB) tables() []string { return (&examiner{DB: db}).expectedTables() }

const (
	ownerFind = `SELECT coalesce(pg_catalog.to_regclass($1::pg_catalog.text)::pg_catalog.oid, 0)::pg_catalog.int8, pg_catalog.to_regclass($2::pg_catalog.text) IS NOT NULL`
	// A table that Citus manages has shards, each of which is a table of the nodes that
	// pg_dist_placement names. A transaction at a higher isolation level reads the placements
	// of its beginning, while Citus sends its writes to those of now. So the locks of this
	// session say where it wrote: they are on a shard of this node only behind a write here,
	// which also keeps Citus from moving it.
	ownerShards = `WITH mine AS MATERIALIZED (SELECT l.relation FROM pg_catalog.pg_locks l
  WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.locktype OPERATOR(pg_catalog.=) 'relation' AND l.mode OPERATOR(pg_catalog.=) 'RowExclusiveLock' AND l.granted)
SELECT coalesce((SELECT c.relkind::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid), ''), pg_catalog.count(*),
  pg_catalog.count(*) FILTER (WHERE EXISTS (
  SELECT FROM CATALOG.pg_dist_placement p JOIN CATALOG.pg_dist_local_group g ON g.groupid OPERATOR(pg_catalog.=) p.groupid
   WHERE p.shardid OPERATOR(pg_catalog.=) s.shardid AND p.shardstate OPERATOR(pg_catalog.=) 1)),
  pg_catalog.count(*) FILTER (WHERE EXISTS (
  SELECT FROM mine m WHERE m.relation OPERATOR(pg_catalog.=) pg_catalog.to_regclass(CATALOG.shard_name(s.logicalrelid, s.shardid))::pg_catalog.oid))
  FROM CATALOG.pg_dist_shard s WHERE s.logicalrelid::pg_catalog.oid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid`
)

const ownerOp = "on owner"

// OnOwner returns an error unless the rows of a table are on the node that a transaction is
// on; see package postgres.
func OnOwner(ctx context.Context, given any, table string) error {
	return onOwner(ctx, given, table, realCitus().catalog)
}

func onOwner(ctx context.Context, given any, table, catalog string) error {
	tx, err := engine.TxOf((*DB)(nil), given)
	if err != nil {
		return err
	}
	if tx, err = ready(tx); err != nil {
		return wrap(ownerOp, err, engine.ErrConnLost)
	}
	var oid int64
	var citus bool
	if err := rowTx(ctx, tx, ownerFind, []any{table, catalog + ".pg_dist_placement"}, &oid, &citus); err != nil {
		return wrap(ownerOp, err, engine.ErrConnLost)
	}
	if oid == 0 {
		return fmt.Errorf("%s: %w: there is no table %s in this database", ownerOp, ErrOtherNode, table)
	}
	if !citus {
		return nil
	}
	var o owned
	if err := rowTx(ctx, tx, strings.ReplaceAll(ownerShards, "CATALOG.", catalog+"."), []any{oid}, &o.kind, &o.shards, &o.here, &o.written); err != nil {
		return wrap(ownerOp, err, engine.ErrConnLost)
	}
	if why := o.missing(); why != "" {
		return fmt.Errorf("%s: %w: %s %s", ownerOp, ErrOtherNode, table, why)
	}
	return nil
}

// owned is what a transaction on a node of a Citus knows about a table.
type owned struct {
	kind    string // relkind; "" if the transaction does not see the table
	shards  int64
	here    int64 // shards that are placed on this node, as the transaction sees it
	written int64 // shards of this node that the transaction wrote to
}

// missing says why the rows that the transaction wrote may be on another node; "": they are on
// this one. A table without shards is this node's own.
func (o *owned) missing() string {
	switch {
	case o.kind != "r" && o.kind != "p":
		return "is no table that this transaction can see: name the table itself, not a view of it"
	case o.shards > 0 && o.written == 0:
		return fmt.Sprintf("was not written to on this node by this transaction: it has %d of its %d shards. Call it behind the first write", o.here, o.shards)
	case o.written < o.shards && o.here < o.shards:
		return fmt.Sprintf("has %d shards, of which this node has %d", o.shards, o.here)
	}
	return ""
}

// rowTx reads one row in a caller's transaction.
func rowTx(ctx context.Context, tx engine.Tx, text string, args []any, into ...any) error {
	found := false
	call := &engine.Call{Each: func(r engine.Row) error {
		found = true
		return r.Scan(into...)
	}}
	if err := queryTx(ctx, tx, text, args, call); err != nil {
		return err
	}
	if !found {
		return sql.ErrNoRows
	}
	return nil
}

const (
	// doctorNodes reads a catalog of Citus; the columns are those of [citusNode].
	doctorNodes = `SELECT 'node-' || n.groupid, n.nodename || ':' || n.nodeport, n.isactive FROM CATALOG.pg_dist_node n WHERE n.noderole = 'primary' ORDER BY n.groupid`
	// doctorSelf reads whether this node is a worker. doctorListed asks the coordinator in how
	// many rows it has a worker: a node that was removed keeps the catalog of before.
	doctorSelf   = `SELECT g.groupid FROM CATALOG.pg_dist_local_group g LIMIT 1`
	doctorListed = `SELECT r.result FROM CATALOG.run_command_on_coordinator('SELECT count(*) FROM CATALOG.pg_dist_node WHERE groupid = ' || $1::text, true) r WHERE r.success`
)

// citusNode is a node as the catalog of Citus has it.
type citusNode struct {
	Key, Address string
	Active       bool
}

// citusPlace is what this node is in its Citus.
type citusPlace int

const (
	member citusPlace = iota
	removed
	unknown // the coordinator does not answer
)

// distribution examines what Citus does with pawl's tables, and its nodes.
func (x *examiner) distribution(ctx context.Context) ([]health.Finding, error) {
	conn, err := x.acquire(ctx, "doctor/citus")
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	_, said, err := x.identify(ctx, conn)
	if err != nil {
		return nil, wrap("doctor/citus", err, engine.ErrConnLost)
	}
	has := catalogsOf(said)
	if !has.partition {
		return nil, nil
	}
	if err := x.local(ctx, conn, has); errors.Is(err, engine.ErrSchemaDistributed) {
		return []health.Finding{engine.NewFinding(health.Problem, err.Error(), "SELECT citus_schema_undistribute('"+x.opts.Schema+"'), or a plain schema on each node: docs/scale.md")}, nil
	} else if err != nil {
		return nil, wrap("doctor/citus", err, engine.ErrConnLost)
	}
	rows, err := conn.Query(ctx, x.inCatalog(doctorNodes))
	if err != nil {
		return nil, wrap("doctor/citus", err, engine.ErrConnLost)
	}
	nodes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[citusNode])
	if err != nil {
		return nil, wrap("doctor/citus", err, engine.ErrConnLost)
	}
	place, err := x.place(ctx, conn)
	if err != nil {
		return nil, wrap("doctor/citus", err, engine.ErrConnLost)
	}
	return checkNodes(nodes, place), nil
}

// place returns whether this node is in the coordinator's list.
func (x *examiner) place(ctx context.Context, conn *pgxpool.Conn) (citusPlace, error) {
	var group int32
	if err := conn.QueryRow(ctx, x.inCatalog(doctorSelf)).Scan(&group); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return unknown, err
	}
	if group == 0 {
		return member, nil // it is the coordinator, or there is no other node
	}
	var listed string
	err := conn.QueryRow(ctx, x.inCatalog(doctorListed), strconv.Itoa(int(group))).Scan(&listed)
	switch {
	case err != nil && broken(err):
		return unknown, err
	case err != nil: // it does not answer, or an old Citus lacks the function
		return unknown, nil
	case listed == "0":
		return removed, nil
	}
	return member, nil
}

func checkNodes(nodes []citusNode, place citusPlace) (found []health.Finding) {
	switch {
	case len(nodes) == 0:
		return []health.Finding{engine.NewFinding(health.Note, "Citus is installed and knows no other node: a single node, or one that was removed from its cluster",
			"If it was removed: keep it in the fleet's list until pawl backlog says that it is empty.")}
	case place == removed:
		return []health.Finding{engine.NewFinding(health.Problem, "this node was removed from its Citus: a fleet that lists the nodes leaves it, and nobody works on what waits in it",
			"Keep it in the fleet's list by hand until pawl backlog of it is empty, or add it again with citus_add_node (docs/scale.md).")}
	case place == unknown:
		found = append(found, engine.NewFinding(health.Note, "Citus's coordinator does not answer this node: it may have removed it", "See whether it is in pg_dist_node of the coordinator."))
	}
	for _, n := range nodes {
		if !n.Active {
			found = append(found, engine.NewFinding(health.Warning, fmt.Sprintf("Citus's %s (%s) is not active: what is in its pawl tables waits for it", n.Key, n.Address),
				"SELECT citus_activate_node(…) when it is back; before citus_remove_node see that pawl backlog of it is empty (docs/scale.md)."))
		}
	}
	return engine.OrOK(found, fmt.Sprintf("pawl's tables are this node's own, of %d nodes", len(nodes)))
}
