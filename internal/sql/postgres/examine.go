package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

var _ engine.Examiner = (*DB)(nil)

// Examinations returns what can be looked at on PostgreSQL.
func (db *DB) Examinations(l engine.ExamineLimits) []engine.Examination {
	x := &examiner{db, engine.WithDefaults(l)}
	return []engine.Examination{
		{Name: "server", Examine: x.server},
		{Name: "citus", Examine: x.distribution},
		{Name: "objects", Examine: x.objects},
		{Name: "paths", Examine: x.paths},
		{Name: "durability", Examine: x.durability},
		{Name: "pooler", Examine: x.pooler},
		{Name: "connections", Examine: x.connections},
		{Name: "snapshots", Examine: x.snapshots},
		{Name: "locks", Examine: x.locks},
		{Name: "vacuum", Examine: x.vacuum},
	}
}

type examiner struct {
	*DB
	limits engine.ExamineLimits
}

// doctorStatements returns the statements of the doctor that only PostgreSQL has.
func doctorStatements() []engine.Operation {
	return []engine.Operation{
		doctorConnections{}, doctorHidden{}, doctorLocks{}, doctorObjects{}, doctorPath{}, doctorPaths{}, doctorPrepared{}, doctorServer{}, doctorSettings{},
		doctorSlots{}, doctorTables{}, doctorTransactions{},
	}
}

// doctorServer reads the server's version and role. One row.
type doctorServer struct{ engine.Rows[serverInfo] }

type serverInfo struct {
	Version           string
	Number            int64
	Standby, ReadOnly bool
	Isolation         string
	Encoding          string
}

// oldest is the oldest major version that pawl supports.
const oldest = 14

// server looks at what kind of server this is.
func (x *examiner) server(ctx context.Context) ([]health.Finding, error) {
	k, err := x.kind(ctx)
	if err != nil || k.Refused != "" {
		return checkKind(&k), err
	}
	info, _, err := engine.Get(ctx, x, doctorServer{})
	if err != nil {
		return nil, err
	}
	return append(checkKind(&k), checkServer(&info)...), nil
}

// kind reads which product the server is.
func (x *examiner) kind(ctx context.Context) (k kind, err error) {
	conn, err := x.acquire(ctx, "doctor/server")
	if err != nil {
		return k, err
	}
	defer conn.Release()
	k, _, err = x.identify(ctx, conn)
	return k, wrap("doctor/server", err, engine.ErrConnLost)
}

// checkKind returns what a product that speaks PostgreSQL's protocol lacks.
func checkKind(k *kind) []health.Finding {
	if k.Refused != "" {
		return []health.Finding{engine.NewFinding(health.Problem, k.Name+": "+k.Refused, "Use a PostgreSQL, a SQLite or a SQL Server for pawl: docs/scale.md.")}
	}
	return k.Lacks
}

func checkServer(s *serverInfo) (found []health.Finding) {
	if s.Number < oldest*10_000 {
		found = append(found, engine.NewFinding(health.Problem, "PostgreSQL "+s.Version, fmt.Sprintf("Upgrade the server: pawl needs version %d or later.", oldest)))
	}
	found = append(append(found, checkWrites(s)...), checkDatabase(s.Encoding)...)
	if s.Isolation != "read committed" {
		found = append(found, engine.NewFinding(health.Note, "default_transaction_isolation = "+s.Isolation+
			": pawl's own transactions are read committed all the same, and some calls are refused in yours (docs/isolation.md)", ""))
	}
	return engine.OrOK(found, "PostgreSQL "+s.Version+", a primary")
}

// checkWrites returns a problem for each reason why the server takes no writes.
func checkWrites(s *serverInfo) (found []health.Finding) {
	if s.Standby {
		found = append(found, engine.NewFinding(health.Problem, "this server is a standby (pg_is_in_recovery)", "Connect to the primary: target_session_attrs=read-write in the connection string finds it."))
	}
	if s.ReadOnly {
		found = append(found, engine.NewFinding(health.Problem, "default_transaction_read_only = on", "Switch it off for this role or database: ALTER ROLE … RESET default_transaction_read_only"))
	}
	return found
}

// CheckWrites returns a problem for each reason why the server takes no writes.
func (db *DB) CheckWrites(ctx context.Context) ([]health.Finding, error) {
	info, _, err := engine.Get(ctx, db, doctorServer{})
	if err != nil {
		return nil, err
	}
	return checkWrites(&info), nil
}

// doctorSettings reads settings as this session sees them, by name.
type doctorSettings struct {
	engine.Rows[setting]
	Names []string
}

type setting struct {
	Name, Value string
	Source      string // where it comes from
}

// durability looks at the settings by which a crash can take back commits.
func (x *examiner) durability(ctx context.Context) ([]health.Finding, error) {
	list, err := engine.Query(ctx, x, doctorSettings{Names: []string{"fsync", "full_page_writes", "synchronous_commit"}})
	if err != nil {
		return nil, err
	}
	found := checkDurability(list)
	tables, err := x.tables(ctx)
	for _, t := range tables {
		if t.Unlogged {
			found = append(found, engine.NewFinding(health.Problem, "table "+t.Name+" is unlogged: a crash empties it", "ALTER TABLE "+x.quote(t.Name)+" SET LOGGED"))
		}
	}
	if x.opts.RelaxedAck {
		found = append(found, engine.NewFinding(health.Note, "RelaxedAck: a crash of the server may have the last acks forgotten, and their messages delivered again", ""))
	}
	return engine.OrOK(found, settingList(list)), err
}

func settingList(list []setting) string {
	return strings.Join(engine.Mapped(list, func(s *setting) string { return s.Name + " = " + s.Value }), ", ")
}

func checkDurability(list []setting) (found []health.Finding) {
	for _, s := range list {
		seen := fmt.Sprintf("%s = %s (from: %s)", s.Name, s.Value, s.Source)
		switch {
		case s.Value != "off":
		case s.Name == "synchronous_commit":
			found = append(found, engine.NewFinding(health.Warning, seen+": a crash of the server takes back the last commits",
				"Take it out of where it comes from: the connection string, ALTER ROLE … RESET synchronous_commit, ALTER DATABASE … RESET synchronous_commit, or ALTER SYSTEM RESET synchronous_commit. For acks alone there is RelaxedAck."))
		default:
			found = append(found, engine.NewFinding(health.Problem, seen+": a crash of the machine can destroy the database",
				"ALTER SYSTEM SET "+s.Name+" = on; SELECT pg_reload_conf()"))
		}
	}
	return found
}

// doctorConnections counts the connections of the server, this role and this database. The
// reserved ones are for superusers.
type doctorConnections struct{ engine.Rows[usage] }

type usage struct {
	What string
	Used int64
	Most int64 // the limit, -1 without one
}

// connections looks at how many connections are left.
func (x *examiner) connections(ctx context.Context) ([]health.Finding, error) {
	list, err := engine.Query(ctx, x, doctorConnections{})
	if err != nil {
		return nil, err
	}
	return checkConnections(list, x.limits.Connections), nil
}

func checkConnections(list []usage, limit int64) (found []health.Finding) {
	var seen []string
	for _, u := range list {
		if u.Most < 0 {
			continue
		}
		text := fmt.Sprintf("%s: %d of %d connections in use", u.What, u.Used, u.Most)
		seen = append(seen, text)
		level := health.Warning
		if u.Used >= u.Most {
			level = health.Problem
		}
		if u.Used*100 >= u.Most*limit {
			found = append(found, engine.NewFinding(level, text, "Give programs smaller pools (pool_max_conns), put a pooler in front, or raise the limit (max_connections, CONNECTION LIMIT)."))
		}
	}
	return engine.OrOK(found, strings.Join(seen, "; "))
}

// age formats microseconds for people.
func age(micros int64) string {
	d := time.Duration(micros) * time.Microsecond
	if d > time.Second {
		d = d.Round(time.Second)
	}
	return engine.Exact(d.Round(time.Millisecond))
}

// quote returns the qualified name of a table in pawl's schema.
func (x *examiner) quote(table string) string { return `"` + x.opts.Schema + `"."` + table + `"` }
