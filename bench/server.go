package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// schema is ours alone: it is dropped before every repetition.
const schema = "pawl_bench"

// application marks our connections, so that we can wait for their end.
const application = "pawl-bench"

// server is the PostgreSQL server as the measuring sees it.
type server struct {
	url        string
	admin      *pgx.Conn
	version    string
	durability string // its settings, as readers need them
	pid        int    // of the postmaster, 0 if it is not on this machine
	backend    int    // the process of admin
	committed  int64  // transactions until the last reset
	many       *ensemble
}

func connect(ctx context.Context, url string) (*server, error) {
	if url == "" {
		return nil, errors.New("not set")
	}
	admin, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	s := &server{url: url, admin: admin}
	const query = `SELECT current_setting('server_version'), 'fsync ' || current_setting('fsync') || ', synchronous_commit ' || current_setting('synchronous_commit'), pg_backend_pid()`
	if err := admin.QueryRow(ctx, query).Scan(&s.version, &s.durability, &s.backend); err != nil {
		return nil, err
	}
	s.version, _, _ = strings.Cut(s.version, " ")
	s.pid = postmaster(s.backend)
	return s, nil
}

func (s *server) close(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if s.many != nil {
		s.many.disband(ctx)
	}
	_ = s.admin.Close(ctx)
}

// reset gives every repetition the same start.
func (s *server) reset(ctx context.Context) error {
	for _, statement := range []string{
		`SET client_min_messages = warning`,
		`DROP SCHEMA IF EXISTS ` + schema + ` CASCADE`,
		`CREATE SCHEMA ` + schema,
		`CHECKPOINT`,
	} {
		if _, err := s.admin.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return s.admin.QueryRow(ctx, commits).Scan(&s.committed)
}

// commits are the transactions of sessions that have ended, and of others until a second ago.
const commits = `SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()`

// pool connects with up to so many connections; 0 means pgx's default.
func (s *server) pool(ctx context.Context, connections int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(s.url)
	if err != nil {
		return nil, err
	}
	if connections > 0 {
		config.MaxConns = int32(connections)
		config.MinConns = int32(connections)
	}
	config.ConnConfig.RuntimeParams["application_name"] = application
	return pgxpool.NewWithConfig(ctx, config)
}

// poolUpTo connects as needed, with up to so many connections.
func (s *server) poolUpTo(ctx context.Context, connections int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(s.url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(connections)
	config.ConnConfig.RuntimeParams["application_name"] = application
	return pgxpool.NewWithConfig(ctx, config)
}

// usage is what the server has spent so far.
type usage struct {
	cpu time.Duration
	wal int64
}

func (s *server) usage(ctx context.Context) (u usage, err error) {
	err = s.admin.QueryRow(ctx, `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint`).Scan(&u.wal)
	u.cpu = treeCPU(s.pid)
	return u, err
}

// left counts row versions that were deleted or updated away, once all our connections
// have ended and thereby reported, the bytes of our tables and indexes, and transactions.
func (s *server) left(ctx context.Context) (dead, size, transactions int64, err error) {
	for range 200 {
		var open int
		if err := s.admin.QueryRow(ctx, connectionsOfOurs, application).Scan(&open); err != nil {
			return 0, 0, 0, err
		}
		if open == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	err = s.admin.QueryRow(ctx, `SELECT coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint, coalesce(sum(pg_total_relation_size(relid)), 0)::bigint, (`+commits+`) - $2
 FROM pg_stat_user_tables WHERE schemaname = $1`, schema, s.committed).Scan(&dead, &size, &transactions)
	return dead, size, transactions, err
}

const connectionsOfOurs = `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1`

// vacuum does what autovacuum would do with our tables, and returns its processor time.
func (s *server) vacuum(ctx context.Context) (time.Duration, error) {
	rows, err := s.admin.Query(ctx, `SELECT quote_ident(schemaname) || '.' || quote_ident(relname) FROM pg_stat_user_tables WHERE schemaname = $1`, schema)
	if err != nil {
		return 0, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) == 0 {
		return 0, err
	}
	before := cpu(stat(s.backend), 2)
	_, err = s.admin.Exec(ctx, "VACUUM (PARALLEL 0) "+strings.Join(tables, ", "))
	return cpu(stat(s.backend), 2) - before, err
}

// clockTick is the unit of /proc/*/stat on Linux.
const clockTick = 10 * time.Millisecond

// Fields of /proc/*/stat, counted after the name in parentheses.
const (
	fieldParent = 1
	fieldUser   = 11 // then system, then both of children that ended
)

// postmaster is the parent of a backend, if both run here.
func postmaster(backend int) int {
	fields := stat(backend)
	if fields == nil {
		return 0
	}
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", backend))
	if !strings.HasPrefix(string(name), "postgres") {
		return 0
	}
	parent, _ := strconv.Atoi(fields[fieldParent])
	return parent
}

// treeCPU is the processor time of a process and its children, ended ones
// included. 0 where that is not to be had.
func treeCPU(pid int) time.Duration {
	if pid == 0 {
		return 0
	}
	return cpu(stat(pid), 4) + childrenCPU(pid)
}

// childrenCPU is the processor time of the processes that a process has started and that run.
func childrenCPU(pid int) (total time.Duration) {
	for _, f := range children(pid) {
		total += cpu(f, 2)
	}
	return total
}

// children returns what /proc says of the processes that a process has started and that run, by their ids.
func children(pid int) map[int][]string {
	found := map[int][]string{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		child, _ := strconv.Atoi(filepath.Base(dir))
		if f := stat(child); f != nil && f[fieldParent] == strconv.Itoa(pid) {
			found[child] = f
		}
	}
	return found
}

func cpu(fields []string, n int) (total time.Duration) {
	if fields == nil {
		return 0
	}
	for _, f := range fields[fieldUser : fieldUser+n] {
		ticks, _ := strconv.Atoi(f)
		total += time.Duration(ticks) * clockTick
	}
	return total
}

func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < fieldUser+4 {
		return nil
	}
	return fields
}
