package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bravellian/pawl/engine"
)

var _ engine.Examiner = (*DB)(nil)

// Examinations returns what can be looked at on PostgreSQL.
func (db *DB) Examinations(l engine.Limits) []engine.Examination {
	x := &examiner{db, l.WithDefaults()}
	return []engine.Examination{
		{Name: "server", Look: x.server},
		{Name: "objects", Look: x.objects},
		{Name: "paths", Look: x.paths},
		{Name: "durability", Look: x.durability},
		{Name: "pooler", Look: x.pooler},
		{Name: "connections", Look: x.connections},
		{Name: "snapshots", Look: x.snapshots},
		{Name: "vacuum", Look: x.vacuum},
	}
}

type examiner struct {
	*DB
	limits engine.Limits
}

// ask reads rows of one of the doctor's operations.
func ask[T any](ctx context.Context, x *examiner, op string, scan func(engine.Row, *T) error, args ...any) (list []T, err error) {
	err = x.Read(ctx, &engine.Call{Op: "doctor/" + op, Args: args, Reset: func() { list = nil }, Each: func(r engine.Row) error {
		var v T
		err := scan(r, &v)
		list = append(list, v)
		return err
	}})
	return list, err
}

type serverInfo struct {
	version           string
	number            int64
	standby, readOnly bool
	isolation         string
}

// oldest is the oldest version that pawl runs on.
const oldest = 14

// server looks at what kind of server this is.
func (x *examiner) server(ctx context.Context) ([]engine.Finding, error) {
	list, err := ask(ctx, x, "server", func(r engine.Row, s *serverInfo) error {
		return r.Scan(&s.version, &s.number, &s.standby, &s.readOnly, &s.isolation)
	})
	if err != nil {
		return nil, err
	}
	return judgeServer(&list[0]), nil
}

func judgeServer(s *serverInfo) (found []engine.Finding) {
	if s.number < oldest*10_000 {
		found = append(found, engine.Found(engine.Problem, "PostgreSQL "+s.version, fmt.Sprintf("Upgrade the server: pawl needs version %d or later.", oldest)))
	}
	if s.standby {
		found = append(found, engine.Found(engine.Problem, "this server is a standby (pg_is_in_recovery)", "Connect to the primary: target_session_attrs=read-write in the connection string finds it."))
	}
	if s.readOnly {
		found = append(found, engine.Found(engine.Problem, "default_transaction_read_only = on", "Switch it off for this role or database: ALTER ROLE … RESET default_transaction_read_only"))
	}
	if s.isolation != "read committed" {
		found = append(found, engine.Found(engine.Note, "default_transaction_isolation = "+s.isolation+
			": pawl's own transactions are read committed all the same, and some calls are refused in yours (docs/isolation.md)", ""))
	}
	return engine.OrOK(found, "PostgreSQL "+s.version+", a primary")
}

type setting struct{ name, value, source string }

func scanSetting(r engine.Row, s *setting) error { return r.Scan(&s.name, &s.value, &s.source) }

// durability looks at the settings by which a crash can take back commits.
func (x *examiner) durability(ctx context.Context) ([]engine.Finding, error) {
	list, err := ask(ctx, x, "settings", scanSetting, []string{"fsync", "full_page_writes", "synchronous_commit"})
	if err != nil {
		return nil, err
	}
	found := judgeDurability(list)
	tables, err := x.tables(ctx)
	for _, t := range tables {
		if t.unlogged {
			found = append(found, engine.Found(engine.Problem, "table "+t.name+" is unlogged: a crash empties it", "ALTER TABLE "+x.quote(t.name)+" SET LOGGED"))
		}
	}
	if x.opts.RelaxedAck {
		found = append(found, engine.Found(engine.Note, "RelaxedAck: a crash of the server may have the last acks forgotten, and their messages delivered again", ""))
	}
	return engine.OrOK(found, settingList(list)), err
}

func settingList(list []setting) string {
	var text []string
	for _, s := range list {
		text = append(text, s.name+" = "+s.value)
	}
	return strings.Join(text, ", ")
}

func judgeDurability(list []setting) (found []engine.Finding) {
	for _, s := range list {
		seen := fmt.Sprintf("%s = %s (from: %s)", s.name, s.value, s.source)
		switch {
		case s.value != "off":
		case s.name == "synchronous_commit":
			found = append(found, engine.Found(engine.Warning, seen+": a crash of the server takes back the last commits",
				"Take it out of where it comes from: the connection string, ALTER ROLE … RESET synchronous_commit, ALTER DATABASE … RESET synchronous_commit, or ALTER SYSTEM RESET synchronous_commit. For acks alone there is RelaxedAck."))
		default:
			found = append(found, engine.Found(engine.Problem, seen+": a crash of the machine can destroy the database",
				"ALTER SYSTEM SET "+s.name+" = on; SELECT pg_reload_conf()"))
		}
	}
	return found
}

type usage struct {
	what       string
	used, most int64
}

// connections looks at how many connections are left.
func (x *examiner) connections(ctx context.Context) ([]engine.Finding, error) {
	list, err := ask(ctx, x, "connections", func(r engine.Row, u *usage) error { return r.Scan(&u.what, &u.used, &u.most) })
	if err != nil {
		return nil, err
	}
	return judgeConnections(list, x.limits.Connections), nil
}

func judgeConnections(list []usage, limit int64) (found []engine.Finding) {
	var seen []string
	for _, u := range list {
		if u.most < 0 {
			continue
		}
		text := fmt.Sprintf("%s: %d of %d connections in use", u.what, u.used, u.most)
		seen = append(seen, text)
		level := engine.Warning
		if u.used >= u.most {
			level = engine.Problem
		}
		if u.used*100 >= u.most*limit {
			found = append(found, engine.Found(level, text, "Give programs smaller pools (pool_max_conns), put a pooler in front, or raise the limit (max_connections, CONNECTION LIMIT)."))
		}
	}
	return engine.OrOK(found, strings.Join(seen, "; "))
}

// age is microseconds as people read them.
func age(micros int64) string {
	d := time.Duration(micros) * time.Microsecond
	if d > time.Second {
		d = d.Round(time.Second)
	}
	return d.Round(time.Millisecond).String()
}

// quote is the qualified name of a table that lies in pawl's schema.
func (x *examiner) quote(table string) string { return `"` + x.opts.Schema + `"."` + table + `"` }
