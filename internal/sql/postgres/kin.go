package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// ErrUnsupported is returned by migrations on a database that speaks PostgreSQL's protocol and
// lacks what pawl relies on. Nothing was changed.
var ErrUnsupported = errors.New("database not supported")

// serverRead reads what a server says about itself, and which catalogs of Citus it has, as
// names and values. Every product that speaks PostgreSQL's protocol has these catalogs.
const serverRead = `SELECT 'version' AS name, pg_catalog.version() AS value
UNION ALL SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('neon.timeline_id', 'yb_enable_advisory_locks', 'yb_enable_listen_notify')
UNION ALL SELECT c.relname::text, n.nspname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname IN ('pg_dist_partition', 'pg_dist_schema') AND n.nspname = $1`

// kind is a product that speaks PostgreSQL's protocol.
type kind struct {
	Name    string
	Refused string // what is missing that pawl cannot work without; "": nothing
	Lacks   []health.Finding
}

// identify reads what kind of server this is.
func (db *DB) identify(ctx context.Context, q queryer) (k kind, said map[string]string, err error) {
	if k = kin(db.host(), nil); k.Refused != "" { // by its address: it may not answer the query
		return k, nil, nil
	}
	rows, err := q.Query(ctx, db.citus.server, db.citus.catalog)
	if err != nil {
		return k, nil, err
	}
	said = map[string]string{}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		said[name] = value
		return nil
	})
	return kin(db.host(), said), said, err
}

// host returns the host of the pool's connections.
func (db *DB) host() string { return db.pool.Config().ConnConfig.Host }

// supported returns an error for a server that lacks what pawl relies on, and otherwise what
// the server said.
func (db *DB) supported(ctx context.Context, q queryer) (said map[string]string, err error) {
	k, said, err := db.identify(ctx, q)
	if err == nil && k.Refused != "" {
		err = k.err()
	}
	return said, err
}

func (k *kind) err() error {
	return fmt.Errorf("%w: %s: %s (docs/scale.md)", ErrUnsupported, k.Name, k.Refused)
}

// kin returns which product a server is, by its address and what it says about itself.
func kin(host string, said map[string]string) kind {
	version := said["version"]
	has := func(text string) bool { return strings.Contains(version, text) }
	switch {
	case strings.HasPrefix(version, "CockroachDB"):
		return kind{Name: "CockroachDB", Refused: "its advisory locks lock nothing, and it has no LISTEN"}
	case strings.Contains(host, ".dsql.") && strings.HasSuffix(strings.TrimSuffix(host, "."), ".on.aws"):
		return kind{Name: "Aurora DSQL", Refused: "it has no PL/pgSQL, no advisory locks, no savepoints and no LISTEN"}
	case has("Redshift"):
		return kind{Name: "Amazon Redshift", Refused: "it has no indexes and enforces no unique keys"}
	case has("Greenplum"), has("Cloudberry"):
		return kind{Name: "Greenplum", Refused: "its tables are distributed, and a unique key has to contain the column that they are distributed by"}
	case has("-YB-"):
		return kind{Name: "YugabyteDB", Lacks: yugabyte(said)}
	case said["neon.timeline_id"] != "", strings.HasSuffix(host, ".neon.tech"):
		return kind{Name: "Neon", Lacks: neon(host)}
	}
	return kind{Name: "PostgreSQL"}
}

func yugabyte(said map[string]string) (found []health.Finding) {
	found = append(found, engine.NewFinding(health.Warning, "YugabyteDB: pawl was not tried on it", "Try your load on it first: docs/scale.md."))
	if said["yb_enable_advisory_locks"] != "on" {
		found = append(found, engine.NewFinding(health.Problem, "YugabyteDB without advisory locks: migrations and claims rely on them",
			"Upgrade to a version that has them (2025.1 or later) and set yb_enable_advisory_locks = on."))
	}
	if said["yb_enable_listen_notify"] != "on" {
		found = append(found, engine.NewFinding(health.Warning, "YugabyteDB without LISTEN and NOTIFY: idle workers poll",
			"Upgrade to 2025.2.3 or later and set yb_enable_listen_notify = on, or open the database with PollOnly."))
	}
	return found
}

func neon(host string) (found []health.Finding) {
	if name, _, _ := strings.Cut(host, "."); strings.HasSuffix(name, "-pooler") {
		found = append(found, engine.NewFinding(health.Warning, "Neon's pooler hands out connections by the transaction: LISTEN does not work, idle workers poll",
			"Use the address without -pooler for workers."))
	}
	return append(found, engine.NewFinding(health.Note, "Neon suspends a database that has no activity: a worker's polls keep it active, and without a worker nothing is due on time",
		""))
}
