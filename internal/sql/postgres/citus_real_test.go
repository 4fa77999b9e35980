package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/sql/postgres"
	"github.com/bravellian/pawl/internal/test/enginetest"
)

// realCitus is a Citus that PAWL_TEST_CITUS names by the URL of its coordinator, with a user who
// may make schemas on all nodes, and two nodes or more that have shards. The schemas that tests
// make are dropped; those of pawl on the coordinator must not exist before.
type realCitus struct {
	coordinator *postgres.DB
	nodes       map[int]*postgres.DB // by group, the coordinator's left out
	hosts       map[int]string       // "host", port as SQL
}

func onCitus(t *testing.T) *realCitus {
	t.Helper()
	at := os.Getenv("PAWL_TEST_CITUS")
	if at == "" {
		t.Skip("PAWL_TEST_CITUS names no Citus")
	}
	c := &realCitus{coordinator: open(t, at, postgres.Options{}), nodes: map[int]*postgres.DB{}, hosts: map[int]string{}}
	rows, err := c.coordinator.Pool().Query(t.Context(), `SELECT groupid, nodename, nodeport FROM pg_dist_node WHERE noderole = 'primary' AND groupid <> 0 AND shouldhaveshards`)
	enginetest.Must(t, err)
	var group, port int
	var host string
	_, err = pgx.ForEachRow(rows, []any{&group, &host, &port}, func() error {
		u, err := url.Parse(at)
		if err != nil {
			return err
		}
		u.Host = net.JoinHostPort(host, strconv.Itoa(port))
		c.nodes[group], c.hosts[group] = open(t, u.String(), postgres.Options{}), fmt.Sprintf("'%s', %d", host, port)
		return nil
	})
	enginetest.Must(t, err)
	if len(c.nodes) < 2 {
		t.Fatalf("%d nodes have shards, want two", len(c.nodes))
	}
	return c
}

// do runs statements on one connection to the coordinator.
func (c *realCitus) do(t *testing.T, statements ...string) {
	t.Helper()
	conn, err := c.coordinator.Pool().Acquire(context.WithoutCancel(t.Context()))
	enginetest.Must(t, err)
	defer conn.Release()
	for _, s := range statements {
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// tenant makes a schema that Citus distributes, with a table and a view of it.
func (c *realCitus) tenant(t *testing.T) (name string) {
	t.Helper()
	name = fmt.Sprintf("tenant_%x", enginetest.Token())[:20]
	c.do(t, `SET citus.enable_schema_based_sharding = on`, `CREATE SCHEMA `+name, `RESET citus.enable_schema_based_sharding`,
		`CREATE TABLE `+name+`.orders (id bigserial PRIMARY KEY)`, `CREATE VIEW `+name+`.view AS SELECT * FROM `+name+`.orders`)
	t.Cleanup(func() { c.do(t, `DROP SCHEMA `+name+` CASCADE`) })
	return name
}

// owner returns the group of the node that a tenant is on, and one of the others.
func (c *realCitus) owner(t *testing.T, tenant string) (here, there int) {
	t.Helper()
	enginetest.Must(t, c.coordinator.Pool().QueryRow(t.Context(), `SELECT p.groupid FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid)
	  WHERE s.logicalrelid = ($1 || '.orders')::regclass`, tenant).Scan(&here))
	for group := range c.nodes {
		if group != here {
			there = group
		}
	}
	return here, there
}

// D-520: on a Citus OnOwner passes where the row and a message commit together, and nowhere
// else: at each isolation level, also when the tenant moved after the transaction began.
func TestRealCitusOwner(t *testing.T) {
	c := onCitus(t)
	tenant := c.tenant(t)
	table := tenant + ".orders"
	insert := `INSERT INTO ` + table + ` DEFAULT VALUES`
	for _, level := range levels() {
		for _, v := range []struct {
			name          string
			before, after []string // of the move, which there is where there is an after
			asks          string
			away          bool // on the node that the tenant is not on
			want          bool
		}{
			{"a write here", []string{insert}, nil, table, false, true},
			{"a delete of nothing", []string{`DELETE FROM ` + table + ` WHERE id = -1`}, nil, table, false, true},
			{"a write from another node", []string{insert}, nil, table, true, false},
			{"no write", nil, nil, table, false, false},
			{"a read", []string{`SELECT * FROM ` + table + ` FOR UPDATE`}, nil, table, false, false},
			{"a view", []string{insert}, nil, tenant + ".view", false, false},
			{"over a connection to itself", []string{`SET LOCAL citus.enable_local_execution = off`, insert}, nil, table, false, false},
			{"it moves away", []string{`SELECT 1`}, []string{insert}, table, false, false},
			{"it comes", []string{`SELECT 1`}, []string{insert}, table, true, true},
		} {
			t.Run(fmt.Sprint(level, "/", v.name), func(t *testing.T) {
				group, other := c.owner(t, tenant)
				if v.away {
					group, other = other, group
				}
				tx, err := pool(t, c.nodes[group]).BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
				enginetest.Must(t, err)
				defer func() { _ = tx.Rollback() }()
				exec := func(all []string) {
					for _, text := range all {
						_, err := tx.ExecContext(t.Context(), text)
						enginetest.Must(t, err)
					}
				}
				exec(v.before)
				if v.after != nil {
					to := other
					if v.away {
						to = group
					}
					c.do(t, `SELECT citus_schema_move('`+tenant+`', `+c.hosts[to]+`, 'block_writes')`)
					exec(v.after)
				}
				wantOwner(t, postgres.OnOwner(t.Context(), tx, v.asks), v.want)
			})
		}
	}
}

// D-520: of a reference table each node has all rows, and of a table whose shards are on two
// nodes none has.
func TestRealCitusOwnerOfOtherTables(t *testing.T) {
	c := onCitus(t)
	tenant := c.tenant(t)
	c.do(t, `CREATE TABLE public.`+tenant+`_spread (id int PRIMARY KEY)`, `SELECT create_distributed_table('public.`+tenant+`_spread', 'id', shard_count => 8)`,
		`CREATE TABLE public.`+tenant+`_everywhere (id int PRIMARY KEY)`, `SELECT create_reference_table('public.`+tenant+`_everywhere')`)
	t.Cleanup(func() { c.do(t, `DROP TABLE public.`+tenant+`_spread, public.`+tenant+`_everywhere`) })
	for _, level := range levels() {
		for _, db := range c.nodes {
			for table, want := range map[string]bool{"everywhere": true, "spread": false} {
				tx, err := pool(t, db).BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
				enginetest.Must(t, err)
				_, err = tx.ExecContext(t.Context(), `INSERT INTO public.`+tenant+`_`+table+` SELECT generate_series(1, 50)`)
				enginetest.Must(t, err)
				wantOwner(t, postgres.OnOwner(t.Context(), tx, "public."+tenant+"_"+table), want)
				enginetest.Must(t, tx.Rollback())
			}
		}
	}
}

// D-521, D-524: a Citus distributes pawl's schema while a program runs, which says so, and
// stores nothing; the way back that the error names restores the schema, and all that was in it.
func TestRealCitusWayBack(t *testing.T) {
	for _, way := range []string{"schema", "each table"} {
		t.Run(way, func(t *testing.T) {
			c := onCitus(t)
			db := c.coordinator
			postgres.SetCitusEvery(db, 0)
			enginetest.Must(t, db.Migrate(t.Context()))
			t.Cleanup(func() { c.do(t, `DROP SCHEMA pawl CASCADE`) })
			next := enginetest.Put(t, db, 5)[4]
			failed := enginetest.Take(t, db, enginetest.Token(), 1)
			if len(failed) != 1 {
				t.Fatalf("%d were claimed", len(failed))
			}
			c.do(t, `SELECT pawl.lease_enrol('l', gen_random_uuid(), '1 h')`, `SELECT pawl.outbox_attempted('{1}', '{1}', '{no}', 'w', 3)`)
			before := enginetest.Count(t, db)

			if way == "schema" {
				c.do(t, `SELECT citus_schema_distribute('pawl')`)
			} else {
				c.do(t, `SELECT create_distributed_table(c.oid::regclass, null) FROM pg_class c WHERE c.relnamespace = 'pawl'::regnamespace AND c.relkind = 'r'`)
			}
			for what, err := range map[string]error{
				"enqueue": db.Do(t.Context(), enginetest.Enqueue([]int64{next + 1}, nil)),
				"many":    db.Do(t.Context(), enginetest.Enqueue([]int64{next + 2, next + 3}, nil)),
				"schema":  db.CheckSchema(t.Context()),
				"migrate": db.Migrate(t.Context()),
			} {
				if !errors.Is(err, engine.ErrSchemaDistributed) {
					t.Errorf("%s: %v", what, err)
				}
			}

			if way == "schema" {
				c.do(t, `SELECT citus_schema_undistribute('pawl')`)
			} else {
				c.do(t, `DO $$ DECLARE v regclass; BEGIN LOOP
				  SELECT p.logicalrelid INTO v FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid WHERE c.relnamespace = 'pawl'::regnamespace LIMIT 1;
				  EXIT WHEN NOT FOUND;
				  PERFORM undistribute_table(v, cascade_via_foreign_keys => true); END LOOP; END $$`)
			}
			enginetest.Must(t, db.CheckSchema(t.Context()))
			for _, check := range []string{"schema", "objects", "citus"} {
				if level, text := citusFindings(t, db, check); level > health.Note {
					t.Errorf("%s: %v %s", check, level, text)
				}
			}
			if after := enginetest.Count(t, db); after != before {
				t.Errorf("%+v before, %+v after", before, after)
			}
			c.do(t, `SELECT pawl.lease_enrol('l', gen_random_uuid(), '1 h')`, `SELECT pawl.outbox_attempted('{1}', '{2}', '{no}', 'w', 3)`)
			if got := enginetest.Take(t, db, enginetest.Token(), 10); len(got) != 4 {
				t.Errorf("%d messages were claimed, want 4", len(got))
			}
		})
	}
}

// D-522: a coordinator that pawl's tables are in is a store.
func TestRealCitusNodes(t *testing.T) {
	c := onCitus(t)
	if list := listedNodes(t, c.coordinator, "pg_catalog"); strings.Count(list, "node-") < len(c.nodes) {
		t.Errorf("%d nodes, the list is %s", len(c.nodes), list)
	}
	enginetest.Must(t, c.coordinator.Migrate(t.Context()))
	t.Cleanup(func() { c.do(t, `DROP SCHEMA pawl CASCADE`) })
	if list := listedNodes(t, c.coordinator, "pg_catalog"); !strings.HasPrefix(list, "node-0=") {
		t.Errorf("without the coordinator: %s", list)
	}
	for group, db := range c.nodes {
		if level, text := citusFindings(t, db, "citus"); level != health.OK {
			t.Errorf("node %d: %v %s", group, level, text)
		}
	}
}
