package nemesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// serverFaults harm everybody who uses the server.
func serverFaults() []Fault {
	restart := func(name, mode string) Fault {
		return Fault{Name: name, Engines: Postgres, Track: Servers, Harms: true, Owned: true, Do: func(ctx context.Context, w *World, _ Step) error {
			return w.Server.Restart(context.WithoutCancel(ctx), mode)
		}}
	}
	return []Fault{
		restart("server-fast-stop", "fast"),
		restart("server-immediate-stop", "immediate"),
		restart("server-kill", "kill"),
		{Name: "backend-kill", Engines: Postgres, Track: Servers, Harms: true, Owned: true, Do: backendKill},
		{Name: "connections-exhausted", Engines: Postgres, Track: Servers, Harms: true, Low: time.Second, High: 4 * time.Second, Do: exhaust},
		{Name: "odd-defaults", Engines: Postgres, Track: Servers, Harms: true, Low: 2 * time.Second, High: 5 * time.Second, Do: oddDefaults},
		{Name: "failover-synchronous", Engines: Postgres, Track: Servers, Harms: true, Owned: true, Low: time.Second, High: 3 * time.Second, Do: failover},
	}
}

// backendKill kills a server process of the round with SIGKILL; the server then ends all
// connections and recovers.
func backendKill(ctx context.Context, w *World, s Step) error {
	var pid int
	err := w.Store.SQL.QueryRowContext(ctx,
		`SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY md5(pid::text || $2) LIMIT 1`,
		w.Place.Schema, strconv.FormatUint(s.Pick, 10)).Scan(&pid)
	if err != nil {
		return err
	}
	if !childOf(pid, w.Server.PID()) {
		return nil // it is over, and the number may be somebody else's
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}

// childOf reports whether a process is a child of another one.
func childOf(pid, parent int) bool {
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // it ends at once
	return err == nil && parent > 0 && strings.TrimSpace(string(out)) == strconv.Itoa(parent)
}

// exhaust takes all connections that the server has.
func exhaust(ctx context.Context, w *World, s Step) error {
	var all []*pgx.Conn
	defer func() {
		for _, c := range all {
			_ = c.Close(context.WithoutCancel(ctx))
		}
	}()
	for end := time.Now().Add(s.Hold); time.Now().Before(end) && ctx.Err() == nil; {
		c, err := pgx.Connect(ctx, w.Place.URL)
		if err != nil {
			wait(ctx, 50*time.Millisecond)
			continue
		}
		all = append(all, c)
	}
	return nil
}

// oddDefaults changes what transactions and texts are like by default, for new connections.
func oddDefaults(ctx context.Context, w *World, s Step) error {
	odd := []string{
		"default_transaction_isolation = 'serializable'", "default_transaction_isolation = 'repeatable read'",
		"search_path = 'pg_catalog'", "timezone = 'Asia/Kathmandu'", "datestyle = 'SQL, DMY'", "bytea_output = 'escape'",
		"intervalstyle = 'sql_standard'", "statement_timeout = '40ms'", "lock_timeout = '10ms'", "idle_in_transaction_session_timeout = '50ms'",
		"synchronous_commit = 'off'", "enable_indexscan = 'off'", "transform_null_equals = 'on'", "plan_cache_mode = 'force_generic_plan'",
	}
	setting := odd[s.Pick%uint64(len(odd))]
	if err := w.reset(ctx, `ALTER ROLE CURRENT_USER SET `+setting); err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	wait(ctx, s.Hold)
	name, _, _ := strings.Cut(setting, " ")
	return w.insist(context.WithoutCancel(ctx), func(ctx context.Context) error { return w.reset(ctx, `ALTER ROLE CURRENT_USER RESET `+name) })
}

// reset changes the role and ends all connections, which have the former settings.
func (w *World) reset(ctx context.Context, statement string) error {
	if _, err := w.Store.SQL.ExecContext(ctx, statement); err != nil {
		return err
	}
	_, err := w.Store.SQL.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
	return err
}

// insist repeats what has to succeed before the round goes on, through restarts of the server.
func (w *World) insist(ctx context.Context, do func(context.Context) error) error {
	const patience = 60 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if !wait(ctx, 200*time.Millisecond) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// failover promotes a standby that has everything.
func failover(ctx context.Context, w *World, s Step) error {
	if err := w.Server.Failover(context.WithoutCancel(ctx), true, s.Hold); err != nil {
		return err
	}
	return w.moved(ctx)
}

// moved follows a server that is elsewhere.
func (w *World) moved(ctx context.Context) error {
	if err := w.Crew.Retarget(w.Server.URL()); err != nil {
		return err
	}
	return w.reopen(context.WithoutCancel(ctx))
}
